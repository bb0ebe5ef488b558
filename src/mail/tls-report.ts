import { trimBlanks } from './blanks.ts'

/** TXT records of `_smtp._tls.<domain>` → where the domain wants its reports, `mailto:` and `https:` URIs in its order;
 *  [] when it wants none: no record of this version, more than one, or nothing usable in it. RFC 8460 §3 */
export function readTlsRpt(records: readonly string[]): string[] {
  const ours = records.filter((record) => /^v=TLSRPTv1[ \t]*;/.test(record))
  if (ours.length !== 1) return []
  const fields = ours[0]!.split(';').slice(1)
  const rua = fields.flatMap((field) => /^rua=(.*)$/.exec(trimBlanks(field))?.[1] ?? [])[0] ?? ''
  const uris = rua.split(',').map((uri) => uri.trim())
  return uris.filter((uri) => /^(mailto:[^\s@?]+@[^\s@?]+|https:\/\/\S+)$/i.test(uri)).slice(0, MAX_PLACES)
}

const MAX_PLACES = 2

/** A report that goes by mail: the gzipped JSON and what the headers must say. RFC 8460 §5.3 */
export interface TlsReportMail {
  from: string
  to: string
  /** The domain it is about, and that of the reporter. */
  domain: string
  submitter: string
  reportId: string
  fileName: string
  gzipped: Uint8Array
}

/** Report → the mail that carries it, with CRLF line ends, without Date and Message-ID. Its parts hold nothing but ASCII.
 *  Never throws; every text must be free of line ends. */
export function tlsReportMail(report: TlsReportMail): Buffer {
  const { from, to, domain, submitter, reportId, fileName, gzipped } = report
  const boundary = `=_${reportId.replace(/[^A-Za-z0-9.]/g, '_').slice(0, 60)}`
  const lines = [
    `From: <${from}>`,
    `To: <${to}>`,
    `Subject: Report Domain: ${domain}`,
    ` Submitter: ${submitter}`,
    ` Report-ID: <${reportId}>`,
    `TLS-Report-Domain: ${domain}`,
    `TLS-Report-Submitter: ${submitter}`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type="tlsrpt";',
    ` boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    `This is a report on TLS with ${domain} as seen by ${submitter}.`,
    '',
    `--${boundary}`,
    'Content-Type: application/tlsrpt+gzip',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment;',
    ` filename="${fileName}"`,
    '',
    ...(Buffer.from(gzipped)
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
    `--${boundary}--`,
    '',
  ]
  return Buffer.from(lines.join('\r\n'), 'latin1')
}
