/**
 * Programs that have `fusermount3` mount, and then become the one that serves, because Node cannot receive a descriptor.
 * Arguments: fusermount3, its options, the directory, and the command to become. That finds the mount as descriptor 4, and as 3
 * the socket whose end tells fusermount3 to unmount: when a process is killed, the kernel closes the higher one first, and only
 * what nobody answers any more is unmounted. What fusermount3 says when it fails is told on standard output as
 * JSON.
 */
export interface Helper {
  readonly program: string;
  readonly args: readonly string[];
}

const PYTHON = `
import array, fcntl, json, os, socket, subprocess, sys, tempfile
fusermount, options, directory, *command = sys.argv[1:]
ours, theirs = socket.socketpair()
said = tempfile.TemporaryFile()
mounter = subprocess.Popen([fusermount, '-o', options, '--', directory], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    stderr=said, pass_fds=[theirs.fileno()], env=dict(os.environ, _FUSE_COMMFD=str(theirs.fileno())))
theirs.close()
received = ours.recvmsg(1, socket.CMSG_SPACE(4))[1]
if not received:
    mounter.wait()
    said.seek(0)
    print(json.dumps({'failed': said.read().decode(errors='replace').strip() or 'fusermount3 ended without a word'}))
    sys.exit(1)
fuse = array.array('i', received[0][2][:4])[0]
high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (fuse, ours.fileno())]
for fd, name in zip(high, (4, 3)):
    os.dup2(fd, name, True)
os.execv(command[0], command)
`;

const PERL = `
use strict; use Socket; use Fcntl; use POSIX ();
my ($fusermount, $options, $directory, @command) = @ARGV;
my %recvmsg = (x86_64 => 47, aarch64 => 212, riscv64 => 212);
my $call = $recvmsg{(POSIX::uname())[4]} or die "unknown machine\\n";
socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die $!;
open(my $said, '+>', undef) or die $!;
my $pid = fork();
if (!$pid) {
  fcntl($theirs, F_SETFD, 0);
  $ENV{_FUSE_COMMFD} = fileno($theirs);
  open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>&', $said);
  exec($fusermount, '-o', $options, '--', $directory) or POSIX::_exit(127);
}
close($theirs);
my ($byte, $control) = ("\\0", "\\0" x 24);
my $part = pack('P Q', $byte, 1);
my $message = pack('Q L x4 P Q P Q l x4', 0, 0, $part, 1, $control, 24, 0);
my $got = syscall($call, fileno($ours), $message, 0);
my $fuse = unpack('x16 l', $control);
if ($got <= 0 || unpack('Q', $control) < 20) {
  waitpid($pid, 0);
  seek($said, 0, 0); local $/; my $text = <$said>;
  $text =~ s/[^ -!#-\\[\\]-~]/ /g; $text =~ s/ +$//;
  print '{"failed":"' . ($text || 'fusermount3 ended without a word') . qq("}\\n);
  exit 1;
}
POSIX::dup2($fuse, 20); POSIX::dup2(fileno($ours), 21);
POSIX::dup2(20, 4); POSIX::dup2(21, 3); POSIX::close(20); POSIX::close(21);
exec(@command) or die $!;
`;

/** In the order they are tried. */
export const HELPERS: readonly Helper[] = [
  { program: 'python3', args: ['-c', PYTHON] },
  { program: 'perl', args: ['-e', PERL] },
];
