import { iso } from '../../model/event.ts'
import { VERSION } from '../../version.ts'
import type { Colors } from '../print.ts'
import { COMMAND } from '../service-unit.ts'
import type { ArrivedMail } from './mail-server.ts'
import { RECIPIENT, type TryOut } from './open.ts'
import { DOMAIN } from './peers.ts'
import { TRY_EVENT_TYPES } from './records.ts'
import type { ArrivedCall, ArrivedInbound } from './webhook-receiver.ts'

/** Formats the output of `postrider try`. */

/** The introduction: addresses, keys and commands to copy. `tookMs` is the duration of the start. */
export function describeTryOut(tryOut: TryOut, tookMs: number, colors: Colors): string {
  const row = (name: string, value: string, note = '') =>
    `  ${name.padEnd(11)} ${value}${note && `  ${colors.dim(note)}`}`
  return [
    `${colors.bold(`Postrider ${VERSION}`)}, running on loopback. Nothing leaves this machine.`,
    '',
    row('Dashboard', colors.accent(tryOut.dashboardUrl), 'works once, expires after 30 minutes'),
    row('API', `${tryOut.baseUrl}/v1`),
    row('Live key', colors.accent(tryOut.liveKey), 'delivers to the mail server below'),
    row('Sandbox key', colors.accent(tryOut.testKey), 'simulates delivery'),
    row('Domain', DOMAIN, 'verified in DNS'),
    row('Mail server', tryOut.mailServer, 'receives mail for every domain; shown here live'),
    row('Webhook', tryOut.webhook.url, `${tryOut.webhook.id}, ${TRY_EVENT_TYPES.length} event types; shown here live`),
    row('Secret', colors.accent(tryOut.webhook.secret), 'signs the webhook requests'),
    row('SMTP', tryOut.smtpSubmission, 'for your programs: any user name, an API key as password'),
    row('Inbound', tryOut.smtpInbound, `receives mail for any address @${DOMAIN}; shown here live`),
    row('Secret', colors.accent(tryOut.route.secret), 'signs the requests with inbound mail'),
    '',
    `${colors.bold('Send a message')} ${colors.dim('(in another terminal)')}`,
    '',
    curlLine(tryOut, tryOut.liveKey, RECIPIENT),
    '',
    `${colors.bold('Simulate a failure')} ${colors.dim('(bounce@, softbounce@, defer@, complain@, open@, click@, unsubscribe@, suppressed@)')}`,
    '',
    curlLine(tryOut, tryOut.testKey, 'bounce@customer.example'),
    '',
    `${colors.bold('Forward events')} ${colors.dim('to your own program, signed')}`,
    '',
    `POSTRIDER_API_KEY=${tryOut.liveKey} ${COMMAND} listen --url ${tryOut.baseUrl} --forward-to http://localhost:3000`,
    '',
    `${colors.bold('Variables for the examples in the documentation')}`,
    '',
    exportLine(tryOut),
    '',
    `${colors.good('Ready')} after ${seconds(tookMs)}. Press Ctrl-C to stop and delete everything.`,
    '',
  ].join('\n')
}

/** The same data as the record that `--json` prints. */
export function recordOf(tryOut: TryOut) {
  return {
    http: tryOut.http,
    base_url: tryOut.baseUrl,
    dashboard: tryOut.dashboardUrl,
    smtp: tryOut.smtpSubmission,
    smtp_inbound: tryOut.smtpInbound,
    domain: DOMAIN,
    api_key: tryOut.testKey,
    live_key: tryOut.liveKey,
    curl: curlLine(tryOut, tryOut.testKey, RECIPIENT),
    curl_live: curlLine(tryOut, tryOut.liveKey, RECIPIENT),
    webhook: tryOut.webhook,
    inbound_route: tryOut.route,
    mail_server: tryOut.mailServer,
    data_dir: tryOut.dataDir,
  }
}

/** Variables that the documentation's examples use, for a POSIX shell. */
const exportLine = ({ baseUrl, liveKey, testKey, smtpSubmission, smtpInbound, webhook, route }: TryOut) =>
  `export API=${baseUrl} KEY=${liveKey} TEST_KEY=${testKey} SMTP=${smtpSubmission} INBOUND=${smtpInbound} POSTRIDER_URL=${baseUrl} POSTRIDER_API_KEY=${liveKey} WEBHOOK_SECRET=${webhook.secret} ROUTE_SECRET=${route.secret}`

/** A curl command for a POSIX shell. */
export function curlLine({ baseUrl }: Pick<TryOut, 'baseUrl'>, key: string, to: string): string {
  return [
    `curl -s ${baseUrl}/v1/messages/send`,
    `  -H 'Authorization: Bearer ${key}'`,
    `  -H 'Content-Type: application/json'`,
    `  -d '${JSON.stringify(exampleMessage(to))}'`,
  ].join(' \\\n')
}

/** Body of `POST /v1/messages/send` for an example. */
export function exampleMessage(to: string) {
  return { from: `Postrider <hello@${DOMAIN}>`, to, subject: 'Hello', html: '<p>It works.</p>' }
}

/** Formats a received message as two lines. */
export function formatMail(mail: ArrivedMail, colors: Colors): string {
  const head = `${colors.dim(timeOfDay(mail.at))} ${colors.good('mail   ')} ${colors.bold(mail.subject)}`
  return [
    `${head} from ${mail.from} to ${mail.recipients.join(', ')}`,
    `${INDENT}${size(mail.sizeBytes)} over ${mail.tls ?? 'an unencrypted connection'}, ${formatDkim(mail, colors)}`,
  ].join('\n')
}

/** Formats the results of DKIM signatures: `DKIM rsa-sha256 (pr2611…) pass, …`. */
export function formatDkim({ dkim }: Pick<ArrivedMail, 'dkim'>, colors: Colors): string {
  const each = dkim.map(({ algorithm, selector, result, comment }) => {
    const why = result === 'pass' || comment === null ? '' : ` (${comment})`
    return `${algorithm} ${colors.dim(selector)} ${verdict(result, 'pass', colors)}${why}`
  })
  return `DKIM ${each.join(', ')}`
}

/** Formats a received webhook request as two lines. */
export function formatCall(call: ArrivedCall, colors: Colors): string {
  const to = typeof call.data.to === 'string' ? ` for ${call.data.to}` : ''
  const again = call.attempt === '1' ? '' : `, attempt ${call.attempt}`
  const answer = call.forwarded === null ? '' : `, your server answered ${call.forwarded}`
  const { bounce_type, bounce_code, smtp_response } = call.data
  const why = [bounce_type, bounce_code, bounce_type === undefined ? smtp_response : undefined]
    .filter(Boolean)
    .join(' ')
  return [
    `${colors.dim(timeOfDay(call.at))} ${colors.accent('webhook')} ${colors.bold(call.type)}${to}${again}${why && colors.dim(`  ${why}`)}`,
    `${INDENT}${colors.dim(call.eventId)} ${formatSignatures(call, colors)}${answer}`,
  ].join('\n')
}

/** Formats a received inbound request as two lines. */
export function formatInbound(mail: ArrivedInbound, colors: Colors): string {
  const again = mail.attempt === '1' ? '' : `, attempt ${mail.attempt}`
  const answer = mail.forwarded === null ? '' : `, your server answered ${mail.forwarded}`
  const { spf, dkim, dmarc } = mail.verdicts
  return [
    `${colors.dim(timeOfDay(mail.at))} ${colors.accent('inbound')} ${colors.bold(mail.subject)} from ${mail.from} to ${mail.to.join(', ')}${again}`,
    `${INDENT}SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}, X-Inbound-Signature ${verdict(mail.signature, 'valid', colors)}${answer}`,
  ].join('\n')
}

/** Formats the results of both signatures of a webhook request. */
export function formatSignatures(call: ArrivedCall, colors: Colors): string {
  const service = `X-Service-Signature ${verdict(call.serviceSignature, 'valid', colors)}`
  return `${service}, webhook-signature ${verdict(call.standardSignature, 'valid', colors)}`
}

/** Milliseconds as `840 ms` or `1.2 s`. */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Bytes as `840 bytes` or `1.2 KiB`. */
export function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`
}

const INDENT = ' '.repeat(17) // aligns with the subject: time of day and label

function verdict(found: string, wanted: string, colors: Colors): string {
  return found === wanted ? colors.good(found) : colors.bad(found)
}

function timeOfDay(at: number): string {
  return iso(at).slice(11, 19)
}
