import { expect, test } from 'vitest';
import { parseMountinfo } from '../../src/fuse/mountinfo.ts';

test('mounts are read with their types, whatever optional fields and spaces there are', () => {
  const text = [
    '22 27 0:20 / /sys rw,nosuid shared:7 master:1 - sysfs sysfs rw',
    '42 27 0:39 / /tmp/a\\040b\\011c\\134d ro,noexec - fuse.skillfs skillfs ro,user_id=0',
    '',
  ].join('\n');
  expect(parseMountinfo(text)).toEqual([
    { dir: '/sys', type: 'sysfs' },
    { dir: '/tmp/a b\tc\\d', type: 'fuse.skillfs' },
  ]);
});
