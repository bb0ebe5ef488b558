import type { Zone } from '../../src/cli/try/zone-server.ts'
import { describeWith } from './real-tools.ts'

/** Third-party mail programs, so that the protocol is not tested against ourselves only. `.ci/run` installs them:
 *  swaks, a client in Perl, and two verifiers of DKIM: dkimpy in Python and Mail::DKIM in Perl. */

/** Debian's own, for which its packages are; another may come first in PATH. */
const PYTHON = '/usr/bin/python3'
const PERL = '/usr/bin/perl'

/** `describe` for tests that require them: see describeWith. */
export function describeWithPeers(what: string, tests: () => void): void {
  describeWith(['swaks', 'dkimpy', 'Mail::DKIM'], what, tests)
}

/** The output of a program, both streams together. */
export interface Spoken {
  exitCode: number
  output: string
}

/** A swaks run against `host:port` → its transcript; lines of the server start with `<-` or `<~` (over TLS), a
 *  refusal with `<**` or `<~*`. Exit code 0 only when the mail was accepted. */
export async function swaks(server: string, ...options: string[]): Promise<Spoken> {
  const { exitCode, output } = await run(['swaks', '--server', server, '--timeout', '120', ...options])
  return { exitCode, output: output.toString() }
}

/** A mail → the same with a `DKIM-Signature` in front, by dkimpy. */
export async function dkimpySigned(
  mail: string,
  by: { domain: string; selector: string; privateKeyPem: string },
): Promise<string> {
  const python =
    'import dkim, sys; s, d, k = (a.encode() for a in sys.argv[1:]); m = sys.stdin.buffer.read(); sys.stdout.buffer.write(dkim.sign(m, s, d, k) + m)'
  const { exitCode, output } = await run([PYTHON, '-c', python, by.selector, by.domain, by.privateKeyPem], mail)
  if (exitCode !== 0) throw new Error(output.toString())
  return output.toString()
}

/** A received mail → `algorithm domain pass|fail` of each signature, sorted, by dkimpy, which looks up the keys
 *  itself. */
export async function dkimpyResults(raw: Uint8Array, zone: Zone): Promise<string[]> {
  return (await resultsOf([PYTHON, '-c', DKIMPY_VERIFY], [raw], zone))[0]!
}

/** Several mails → the dkimpyResults of each, by one process. */
export function dkimpyResultsOfAll(mails: readonly Uint8Array[], zone: Zone): Promise<string[][]> {
  return resultsOf([PYTHON, '-c', DKIMPY_VERIFY], mails, zone)
}

/** The same by Mail::DKIM, which skips Ed25519 signatures: its results are of RSA only. */
export function mailDkimResultsOfAll(mails: readonly Uint8Array[], zone: Zone): Promise<string[][]> {
  return resultsOf([PERL, '-e', MAIL_DKIM_VERIFY], mails, zone)
}

async function resultsOf(command: string[], mails: readonly Uint8Array[], zone: Zone): Promise<string[][]> {
  const lines = mails.map((raw) => `${Buffer.from(raw).toString('base64')}\n`).join('')
  const { exitCode, output } = await run([...command, ...zone.address.split(':')], lines)
  if (exitCode !== 0) throw new Error(output.toString())
  const results = output.toString().trim().split('\n')
  return results.map((line) => line.split(',').filter(Boolean).sort())
}

/** An input line is a mail in base64; an output line is its results, with a comma after each. */
const DKIMPY_VERIFY = `
import base64, dkim, dns.resolver, sys
asked = dns.resolver.Resolver(configure=False)
asked.nameservers, asked.port = [sys.argv[1]], int(sys.argv[2])
known = {}
def txt(name, timeout=5):
    if name not in known:
        known[name] = b''.join(asked.resolve(name.decode(), 'TXT')[0].strings)
    return known[name]
for line in sys.stdin.buffer:
    raw = base64.b64decode(line)
    count = sum(name.lower() == b'dkim-signature' for name, _ in dkim.rfc822_parse(raw)[0])
    for index in range(count):
        mail = dkim.DKIM(raw)
        try:
            passed = mail.verify(idx=index, dnsfunc=txt)
        except dkim.DKIMException:
            passed = False
        fields = mail.signature_fields
        print(fields[b'a'].decode(), fields[b'd'].decode(), 'pass' if passed else 'fail', end=',')
    print()
`

const MAIL_DKIM_VERIFY = `
use strict; use MIME::Base64; use Net::DNS; use Mail::DKIM::Verifier; use Mail::DKIM::DNS;
my ($host, $port) = @ARGV;
Mail::DKIM::DNS::resolver(Net::DNS::Resolver->new(nameservers => [$host], port => $port, recurse => 1));
while (my $line = <STDIN>) {
  my $verifier = Mail::DKIM::Verifier->new();
  $verifier->PRINT(decode_base64($line));
  $verifier->CLOSE;
  for my $signature ($verifier->signatures) {
    next if $signature->algorithm ne 'rsa-sha256';
    print $signature->algorithm, ' ', $signature->domain, ' ', $signature->result eq 'pass' ? 'pass' : 'fail', ',';
  }
  print "\n";
}
`

/** Zone lines → its records as dnspython reads them, `name type data` each, the strings of a text joined. */
export async function zoneRecords(text: string, origin: string): Promise<string[]> {
  const { exitCode, output } = await run([PYTHON, '-c', READ_ZONE, `${origin}.`], text)
  if (exitCode !== 0) throw new Error(output.toString())
  return output.toString().trim().split('\n').sort()
}

const READ_ZONE = `
import dns.rdatatype, dns.zone, sys
zone = dns.zone.from_text(sys.stdin.read(), origin=sys.argv[1], relativize=False, check_origin=False)
for name, ttl, data in zone.iterate_rdatas():
    kind = dns.rdatatype.to_text(data.rdtype)
    print(name, kind, b''.join(data.strings).decode() if kind == 'TXT' else data.to_text())
`

/** This process continues meanwhile, because the command connects to it. */
async function run(command: string[], input: string | Uint8Array = ''): Promise<{ exitCode: number; output: Buffer }> {
  const child = Bun.spawn(command, { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).bytes(),
    child.exited,
  ])
  return { exitCode, output: Buffer.concat([output, errors]) }
}
