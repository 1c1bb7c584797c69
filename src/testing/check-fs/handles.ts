import { codeOf } from './facts.ts';
import type { Check } from './subject.ts';

/** A descriptor ends when it is closed: using it, or closing it once more, is an error that says so. */
export const handles: Check = {
  needs: ['openSync', 'closeSync', 'fstatSync', 'open', 'close', 'promises.open'],
  each: 'file',
  async run({ fs, call }, path, say) {
    const expect = (way: string, code: string, expected: string) => {
      if (code !== expected) say(`${way}: ${code} instead of ${expected}`);
    };
    // Another thread that opens a file now would get the lower number, not the one that is closed twice.
    const lower = fs.openSync(path, 'r');
    const fd = fs.openSync(path, 'r');
    if (fd === lower) say('openSync gives the same descriptor twice');
    fs.closeSync(lower);
    fs.closeSync(fd);
    expect('closeSync of a closed descriptor', codeOf(call.sync('closeSync', [fd])), 'EBADF');
    expect('fstatSync of a closed descriptor', codeOf(call.sync('fstatSync', [fd])), 'EBADF');

    const opened = await call.callback('open', [path, 'r']);
    if ('error' in opened) throw opened.error;
    expect('close', codeOf(await call.callback('close', [opened.value])), 'no error');

    const handle = await fs.promises.open(path, 'r');
    if (typeof handle.fd !== 'number' || handle.fd < 0) say(`the FileHandle's descriptor is ${handle.fd}`);
    await handle.close();
    if (handle.fd !== -1) say(`the closed FileHandle's descriptor is ${handle.fd} instead of -1`);
    const uses = {
      read: () => handle.read(Buffer.alloc(1)),
      readFile: () => handle.readFile(),
      stat: () => handle.stat(),
    };
    for (const [use, run] of Object.entries(uses)) {
      expect(`${use} of a closed FileHandle`, await run().then(() => 'no error', codeOfError), 'EBADF');
    }
    expect('close of a closed FileHandle', await handle.close().then(() => 'no error', codeOfError), 'no error');
  },
};

/** A directory that was opened ends when it is closed or when its last entry was awaited, and only directories open. */
export const opendir: Check = {
  needs: ['opendirSync', 'promises.opendir'],
  each: 'entry',
  async run({ fs, call, bytes }, path, say) {
    const expect = (way: string, code: string, expected: string) => {
      if (code !== expected) say(`${way}: ${code} instead of ${expected}`);
    };
    if (bytes.has(path)) {
      expect('opendirSync of a file', codeOf(call.sync('opendirSync', [path])), 'ENOTDIR');
      return;
    }
    const dir = fs.opendirSync(path);
    if (dir.path !== path) say(`the Dir's path is ${JSON.stringify(dir.path)}`);
    dir.closeSync();
    for (const use of ['readSync', 'closeSync'] as const) {
      expect(`${use} of a closed Dir`, codeOf(outcomeOf(() => dir[use]())), 'ERR_DIR_CLOSED');
    }
    const awaited = await fs.promises.opendir(path);
    for await (const _ of awaited);
    expect(
      'close of a Dir that was read to its end',
      await awaited.close().then(() => 'no error', codeOfError),
      'ERR_DIR_CLOSED',
    );
  },
};

function outcomeOf(run: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

function codeOfError(error: unknown): string {
  return codeOf({ error });
}
