import { trimBlanks } from './blanks.ts'

/** TXT records of `_smtp._tls.<domain>` → the domain's report addresses, `mailto:` and `https:` URIs in order; [] if it
 *  wants none: no record of this version, several, or nothing usable. RFC 8460 §3 */
export function readTlsRpt(records: readonly string[]): string[] {
  const ours = records.filter((record) => /^v=TLSRPTv1[ \t]*;/.test(record))
  const [only] = ours
  if (only === undefined || ours.length > 1) return []
  const fields = only.split(';').slice(1)
  const rua = fields.flatMap((field) => /^rua=(.*)$/.exec(trimBlanks(field))?.[1] ?? [])[0] ?? ''
  const uris = rua.split(',').map((uri) => uri.trim())
  return uris.filter((uri) => /^(mailto:[^\s@?]+@[^\s@?]+|https:\/\/\S+)$/i.test(uri)).slice(0, MAX_PLACES)
}

const MAX_PLACES = 2

/** A report sent by mail: the gzipped JSON and its header values. RFC 8460 §5.3 */
export interface TlsReportMail {
  from: string
  to: string
  /** The reported domain, and the reporter's domain. */
  domain: string
  submitter: string
  reportId: string
  fileName: string
  gzipped: Uint8Array
}

/** Report → its mail with CRLF line ends, without Date and Message-ID. Its parts are pure ASCII. Never throws; no text
 *  may contain line ends. */
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
    `This is an aggregate TLS report about ${domain} from ${submitter}.`,
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
