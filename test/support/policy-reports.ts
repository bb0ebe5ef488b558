import { deflateRawSync, gzipSync } from 'node:zlib'

/** DMARC and TLS reports made for tests. */

interface Row {
  ip: string
  count?: number
  spf?: string
  dkim?: string
  disposition?: string
}

export interface SampleReport {
  domain?: string
  reportId?: string
  organization?: string
  /** Seconds since 1970. */
  begin?: number
  end?: number
  policy?: string
  rows?: readonly Row[]
}

/** One record of an aggregate report. RFC 7489 appendix C */
export function recordXml({ ip, count = 1, spf = 'pass', dkim = 'pass', disposition = 'none' }: Row): string {
  return `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row><identifiers><header_from>example.com</header_from></identifiers><auth_results/></record>`
}

export function aggregateXml(sample: SampleReport = {}): string {
  const { domain = 'example.com', reportId = 'r-1', organization = 'Reporter', policy = 'none' } = sample
  const { begin = 1_700_000_000, end = begin + 86_399, rows = [{ ip: '192.0.2.1' }] } = sample
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback><report_metadata><org_name>${organization}</org_name><email>dmarc@reporter.test</email><report_id>${reportId}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata><policy_published><domain>${domain}</domain><p>${policy}</p></policy_published>
${rows.map(recordXml).join('\n')}
</feedback>`
}

export function tlsJson(domain: string, { begin = 1_700_000_000, reportId = 't-1' } = {}): string {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString()
  return JSON.stringify({
    'organization-name': 'Reporter',
    'date-range': { 'start-datetime': at(begin), 'end-datetime': at(begin + 86_399) },
    'contact-info': 'tls@reporter.test',
    'report-id': reportId,
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': domain },
        summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 3 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'receiving-mx-hostname': 'MX.Example.com',
            'failed-session-count': 2,
          },
          { 'result-type': 'validation-failure', 'failed-session-count': 1 },
        ],
      },
    ],
  })
}

/** Files → a zip without checksums. */
export function zipOf(
  files: readonly { name: string; content: Uint8Array | string; flags?: number; method?: number }[],
) {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, flags = 0, method = 8 } of files) {
    const packed = method === 8 ? deflateRawSync(content) : Buffer.from(content)
    const sizes = Buffer.alloc(12)
    sizes.writeUInt32LE(packed.length, 4)
    sizes.writeUInt32LE(content.length, 8)
    const facts = Buffer.from([20, 0, flags, 0, method, 0, 0, 0, 0, 0])
    const lengths = Buffer.from([name.length, 0, 0, 0])
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, sizes, lengths, Buffer.from(name), packed])
    const where = Buffer.alloc(14)
    where.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, sizes, lengths, where, Buffer.from(name)]))
    locals.push(local)
    at += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

/** Attached bytes → the mail with them. */
export function mailWith(
  content: Uint8Array | string,
  {
    type = 'application/gzip',
    name = 'report.xml.gz',
    from = 'noreply@dmarc.yahoo.com',
    subject = 'Report domain',
  } = {},
): Buffer {
  const base64 = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n')
  return Buffer.from(
    [
      `From: ${from}`,
      'To: reports@bounces.example.com',
      `Subject: ${subject}`,
      'Message-ID: <report@reporter.test>',
      'Date: Tue, 14 Nov 2023 22:13:20 +0000',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'This is a report.',
      '--b',
      `Content-Type: ${type}`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      base64,
      '--b--',
      '',
    ].join('\r\n'),
    'latin1',
  )
}

/** Report → the usual mail with it. */
export const reportMail = (sample: SampleReport = {}, mail: { from?: string } = {}) =>
  mailWith(gzipSync(aggregateXml(sample)), mail)
