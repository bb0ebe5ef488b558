import { EVENT_TYPES, iso } from '../../model/event.ts'
import { VERSION } from '../../version.ts'
import type { Paint } from '../print.ts'
import { COMMAND } from '../service-unit.ts'
import type { ArrivedMail } from './mail-server.ts'
import { DOMAIN, RECIPIENT, type TryOut } from './open.ts'
import type { ArrivedCall, ArrivedInbound } from './webhook-receiver.ts'

/** The words of `postrider try`. Pure. */

/** What stands at the top: where everything is, and lines to copy. */
export function describeTryOut(tryOut: TryOut, tookMs: number, paint: Paint): string {
  const row = (name: string, value: string, note = '') =>
    `  ${name.padEnd(11)} ${value}${note && `  ${paint.dim(note)}`}`
  return [
    `${paint.bold(`Postrider ${VERSION}`)}, everything on this machine. Nothing leaves it.`,
    '',
    row('Dashboard', paint.accent(tryOut.dashboardUrl), 'opens once, within 30 minutes'),
    row('API', `${tryOut.baseUrl}/v1`),
    row('Live key', paint.accent(tryOut.liveKey), 'sends for real, to the mail server below'),
    row('Sandbox key', paint.accent(tryOut.testKey), 'outcomes are made up'),
    row('Domain', DOMAIN, 'verified by DNS'),
    row('Mail server', tryOut.mailServer, 'takes mail for every domain, shown here as it arrives'),
    row(
      'Webhook',
      tryOut.webhook.url,
      `${tryOut.webhook.id}, all ${EVENT_TYPES.length} events, shown here as they arrive`,
    ),
    row('Secret', paint.accent(tryOut.webhook.secret), 'signs the webhook calls'),
    row('SMTP', tryOut.smtpSubmission, 'takes mail from your programs: any user, a key as password'),
    row('Inbound', tryOut.smtpInbound, `takes mail for anything@${DOMAIN}, shown here as it is handed in`),
    row('Secret', paint.accent(tryOut.route.secret), 'signs the calls with inbound mail'),
    '',
    `${paint.bold('Send one')} ${paint.dim('(in another terminal)')}`,
    '',
    curlLine(tryOut, tryOut.liveKey, RECIPIENT),
    '',
    `${paint.bold('Make one fail')} ${paint.dim('(bounce@, softbounce@, defer@, complain@, open@, click@, unsubscribe@, suppressed@)')}`,
    '',
    curlLine(tryOut, tryOut.testKey, 'bounce@customer.example'),
    '',
    `${paint.bold('Have events posted')} ${paint.dim('to a program of yours, signed')}`,
    '',
    `POSTRIDER_API_KEY=${tryOut.liveKey} ${COMMAND} listen --url ${tryOut.baseUrl} --forward-to http://localhost:3000`,
    '',
    `${paint.bold('For the lines of the README')}`,
    '',
    exportLine(tryOut),
    '',
    `${paint.good('Ready')} after ${seconds(tookMs)}. Ctrl-C stops it and removes everything.`,
    '',
  ].join('\n')
}

/** The same for machines. */
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

/** What lines of the README go by, for a POSIX shell. */
const exportLine = ({ baseUrl, liveKey, testKey, smtpSubmission, smtpInbound }: TryOut) =>
  `export API=${baseUrl} KEY=${liveKey} TEST_KEY=${testKey} SMTP=${smtpSubmission} INBOUND=${smtpInbound}`

/** A line for a POSIX shell. */
export function curlLine({ baseUrl }: Pick<TryOut, 'baseUrl'>, key: string, to: string): string {
  return [
    `curl -s ${baseUrl}/v1/messages/send`,
    `  -H 'Authorization: Bearer ${key}'`,
    `  -H 'Content-Type: application/json'`,
    `  -d '${JSON.stringify(exampleMessage(to))}'`,
  ].join(' \\\n')
}

export function exampleMessage(to: string) {
  return { from: `Postrider <hello@${DOMAIN}>`, to, subject: 'Hello', html: '<p>It works.</p>' }
}

/** A mail that arrived → two lines. */
export function tellMail(mail: ArrivedMail, paint: Paint): string {
  const head = `${paint.dim(timeOfDay(mail.at))} ${paint.good('mail   ')} ${paint.bold(mail.subject)}`
  return [
    `${head} from ${mail.from} to ${mail.recipients.join(', ')}`,
    `${INDENT}${size(mail.sizeBytes)} over ${mail.tls ?? 'a clear connection'}, ${tellDkim(mail, paint)}`,
  ].join('\n')
}

/** Signatures → `DKIM rsa-sha256 (pr2611…) pass, …`. */
export function tellDkim({ dkim }: Pick<ArrivedMail, 'dkim'>, paint: Paint): string {
  const each = dkim.map(({ algorithm, selector, result, comment }) => {
    const why = result === 'pass' || comment === null ? '' : ` (${comment})`
    return `${algorithm} ${paint.dim(selector)} ${verdict(result, 'pass', paint)}${why}`
  })
  return `DKIM ${each.join(', ')}`
}

/** A webhook call that arrived → two lines. */
export function tellCall(call: ArrivedCall, paint: Paint): string {
  const to = typeof call.data.to === 'string' ? ` for ${call.data.to}` : ''
  const again = call.attempt === '1' ? '' : `, attempt ${call.attempt}`
  const answer = call.forwarded === null ? '' : `, your server answered ${call.forwarded}`
  const { bounce_type, bounce_code, smtp_response } = call.data
  const why = [bounce_type, bounce_code, bounce_type === undefined ? smtp_response : undefined]
    .filter(Boolean)
    .join(' ')
  return [
    `${paint.dim(timeOfDay(call.at))} ${paint.accent('webhook')} ${paint.bold(call.type)}${to}${again}${why && paint.dim(`  ${why}`)}`,
    `${INDENT}${paint.dim(call.eventId)} ${tellSignatures(call, paint)}${answer}`,
  ].join('\n')
}

/** A mail from the world that was handed in → two lines. */
export function tellInbound(mail: ArrivedInbound, paint: Paint): string {
  const again = mail.attempt === '1' ? '' : `, attempt ${mail.attempt}`
  const answer = mail.forwarded === null ? '' : `, your server answered ${mail.forwarded}`
  const { spf, dkim, dmarc } = mail.verdicts
  return [
    `${paint.dim(timeOfDay(mail.at))} ${paint.accent('inbound')} ${paint.bold(mail.subject)} from ${mail.from} to ${mail.to.join(', ')}${again}`,
    `${INDENT}SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}, X-Inbound-Signature ${verdict(mail.signature, 'valid', paint)}${answer}`,
  ].join('\n')
}

export function tellSignatures(call: ArrivedCall, paint: Paint): string {
  const service = `X-Service-Signature ${verdict(call.serviceSignature, 'valid', paint)}`
  return `${service}, webhook-signature ${verdict(call.standardSignature, 'valid', paint)}`
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

export function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`
}

const INDENT = ' '.repeat(17) // under the subject: time of day and the word before it

function verdict(found: string, wanted: string, paint: Paint): string {
  return found === wanted ? paint.good(found) : paint.bad(found)
}

function timeOfDay(at: number): string {
  return iso(at).slice(11, 19)
}
