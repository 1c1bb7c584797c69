import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

/** What gives a server's credentials: the SDK's interfaces, the full one of OAuth or the small one. */
export type CredentialSource = AuthProvider | OAuthClientProvider;

type Challenge = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/**
 * The same credentials, renewed by one request at a time: whoever is refused meanwhile waits for its outcome, and whoever
 * was refused with credentials that are renewed by now asks again with the new ones.
 *
 * @param sentWith the `Authorization` that the request behind an answer went out with
 */
export function sharedAuth(
  source: CredentialSource,
  sentWith: (response: Response) => string | null | undefined,
): AuthProvider {
  const token = isOAuth(source) ? async () => (await source.tokens())?.access_token : () => source.token();
  const renew = isOAuth(source) ? (challenge: Challenge) => authorize(source, challenge) : renewalOf(source);
  if (renew === undefined) return { token };
  let renewing: Promise<void> | undefined;
  const renewUnlessNew = async (challenge: Challenge) => {
    const sent = sentWith(challenge.response);
    const current = await token();
    if (sent && current !== undefined && !sent.endsWith(` ${current}`)) return;
    await renew(challenge);
  };
  return {
    token,
    onUnauthorized(challenge) {
      renewing ??= renewUnlessNew(challenge).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

export function isOAuth(source: CredentialSource): source is OAuthClientProvider {
  return 'tokens' in source && typeof source.tokens === 'function';
}

function renewalOf(source: AuthProvider): ((challenge: Challenge) => Promise<void>) | undefined {
  return source.onUnauthorized && ((challenge) => source.onUnauthorized?.(challenge) as Promise<void>);
}

async function authorize(provider: OAuthClientProvider, challenge: Challenge): Promise<void> {
  const { response, serverUrl, fetchFn } = challenge;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  const outcome = await auth(provider, {
    serverUrl,
    fetchFn,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  });
  if (outcome !== 'AUTHORIZED') throw new UnauthorizedError();
}
