import { read, write, writevSync } from 'node:fs';
import { REQUEST_BYTES } from './protocol/abi.ts';
import { replyHeader } from './protocol/reply.ts';
import { decodeHeader, decodeRequest, type Request, type RequestHeader } from './protocol/request.ts';

/** The kernel's end went away, or the request is not there any more: both end what they concern, and nothing else. */
const UNMOUNTED = 'ENODEV';
const GONE = 'ENOENT';

/** The open `/dev/fuse` of one mount. */
export class Connection {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Hands on requests as they come. @returns when the file system is unmounted and its last file is closed */
  async receive(handle: (header: RequestHeader, request: Request) => void): Promise<void> {
    const buffer = Buffer.allocUnsafeSlow(REQUEST_BYTES);
    while (await this.#next(buffer)) {
      const header = decodeHeader(buffer);
      handle(header, decodeRequest(header, buffer));
    }
  }

  /** @returns whether the kernel still waits for it */
  reply(unique: number, body: Uint8Array): boolean {
    return this.#send([replyHeader(unique, body.length), body]);
  }

  fail(unique: number, errno: number): boolean {
    return this.#send([replyHeader(unique, 0, errno)]);
  }

  /**
   * Tells the kernel something on our own. It may have to wait for requests that we answer, and so must not be waited for by
   * who answers them; that the kernel does not know what it is about is no failure.
   */
  notify(notification: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      write(this.#fd, notification, (error) => {
        if (error === null || error.code === GONE || error.code === UNMOUNTED) resolve();
        else reject(error);
      });
    });
  }

  /** Copying into the process that waits takes no time worth another thread. */
  #send(parts: readonly Uint8Array[]): boolean {
    try {
      writevSync(this.#fd, parts);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === GONE || code === UNMOUNTED) return false;
      throw error;
    }
  }

  /** Waits in a thread of Node's pool. One is enough: requests are decoded faster than the kernel hands them on. */
  #next(buffer: Buffer): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const again = () =>
        read(this.#fd, buffer, 0, buffer.length, null, (error) => {
          if (error === null) resolve(true);
          else if (error.code === UNMOUNTED || error.code === 'ECONNABORTED') resolve(false);
          else if (error.code === GONE || error.code === 'EINTR' || error.code === 'EAGAIN') again();
          else reject(error);
        });
      again();
    });
  }
}
