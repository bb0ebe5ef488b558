import { createHash, generateKeyPairSync } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { registrableDomain } from '../../domains/name.ts'
import { signDkim } from '../../mail/dkim.ts'
import { parseAttachments } from '../../mail/parse.ts'
import { readPolicyReport } from '../../mail/policy-report.ts'
import type { Lookup, Resolver } from '../../net/dns/resolver.ts'
import { systemClock } from '../../os/clock.ts'
import { readReport } from '../feedback/content.ts'
import { readMail } from './read.ts'

/** Reads one sample mail of each kind, so that lazily loaded code (charsets, ciphers) is loaded. Uses invented DNS
 *  answers. Takes about 100 ms. Never rejects: whatever fails to load fails later, for one mail. */
export async function warmUp(): Promise<void> {
  try {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const record = `v=DKIM1; k=ed25519; p=${publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`
    const key = { domain: 'warm.test', selector: 's', algorithm: 'ed25519-sha256' as const, privateKey }
    const mail = Buffer.from(MAIL.replaceAll('\n', '\r\n'), 'latin1')
    const raw = new Uint8Array(Buffer.concat([signDkim(mail, [key], systemClock.now()), mail]))
    const job = {
      jobId: 0,
      raw,
      envelope: {
        remoteAddress: '192.0.2.1',
        helo: 'warm.test',
        returnPath: 'a@warm.test',
        recipients: ['b@warm.test'],
        protocol: 'ESMTP',
        tls: null,
      },
      receivedAt: systemClock.now(),
      seals: [{ domain: 'warm.test', selector: 's' }],
      forwardHeader: 'X-Warm: 1',
    }
    await readMail(job, {
      settings: { hostname: 'warm.test', authenticationMs: 5_000 },
      resolver: madeUp(record),
      clock: systemClock,
      sign: async (_, text) => new Uint8Array(createHash('sha512').update(text).digest()),
      onWork: () => {},
      onBug: () => {},
    })
    await parseAttachments(raw, new Promise(() => {}))
    readReport(raw, '')
    registrableDomain('warm.test')
    readPolicyReport(Buffer.from(`\r\n${gzipSync(REPORT).toString('base64')}`))
    readPolicyReport(Buffer.from('\r\n{"policies":[]}'))
    for (const charset of CHARSETS) {
      await parseAttachments(Buffer.from(partIn(charset)), new Promise(() => {}))
    }
  } catch {}
}

function madeUp(dkim: string): Resolver {
  const found = <T>(records: T[]): Promise<Lookup<T>> =>
    Promise.resolve({ kind: 'records', records, ttlSeconds: 1, authentic: false })
  const nothing = async () => ({ kind: 'nxdomain' as const })
  const text = (name: string) =>
    name.includes('_domainkey')
      ? dkim
      : name.includes('_dmarc')
        ? 'v=DMARC1; p=none'
        : 'v=spf1 a mx ip6:2001:db8::1 -all'
  return {
    mx: () => found([{ preference: 1, exchange: 'mx.warm.test' }]),
    a: () => found(['192.0.2.1']),
    aaaa: () => found(['2001:db8::1']),
    txt: (name) => found([text(name)]),
    txtStrings: (name) => found([[text(name)]]),
    cname: nothing,
    ns: nothing,
    ptr: nothing,
    tlsa: nothing,
    close: () => {},
  }
}

const CHARSETS = [
  'iso-8859-1',
  'windows-1252',
  'shift_jis',
  'iso-2022-jp',
  'euc-jp',
  'gb18030',
  'big5',
  'koi8-r',
  'utf-7',
  'cp850',
  'euc-kr',
]

const partIn = (charset: string) =>
  `From: a@warm.test\r\nSubject: =?${charset}?Q?=41?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n` +
  `--x\r\nContent-Type: text/html; charset=${charset}\r\n\r\n<p>A\xe4\r\n--x\r\nContent-Type: text/plain; charset=${charset}\r\nContent-Disposition: attachment; filename*=${charset}''%41.txt\r\n\r\nA\r\n--x--\r\n`

const REPORT =
  '<?xml version="1.0" encoding="iso-8859-1"?><feedback><record><row><source_ip>::1</source_ip></row></record></feedback>'

const MAIL = `From: "A" <a@warm.test>
To: b@warm.test
Subject: =?utf-8?B?w6Q=?=
Message-ID: <1@warm.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

=C3=A4
--x
Content-Type: text/html; charset=iso-8859-1

<p>\xe4</p>
--x
Content-Type: image/png; name=a.png
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename=a.png

iVBORw0KGgo=
--x
Content-Type: message/rfc822

Subject: inner

text
--x--
`
