import type { Attempt } from '../../client/types.ts'
import type { Colors } from '../print.ts'
import { formatDkim, formatSignatures, seconds, size } from './format.ts'
import type { ArrivedMail } from './mail-server.ts'
import type { ArrivedCall } from './webhook-receiver.ts'

/** One stage of `postrider try --once`: a step from the API request to the webhook request. */
export interface Stage {
  name: string
  ok: boolean
  /** Result of the stage; if it failed, the reason. */
  detail: string
  /** Duration of this stage, if measured. */
  ms: number | null
}

/** A stage usually takes 100 ms; the limit allows for a busy machine. */
export const STAGE_LIMIT_MS = 5_000

const WANTED = ['rsa-sha256', 'ed25519-sha256']

/** The last delivery attempt of the message → stages `MX` and `delivered`. Both fail without an attempt. */
export function deliveryStages(attempt: Attempt | undefined, domain: string): Stage[] {
  const host = attempt?.mx_host ? `${domain} → ${attempt.mx_host} (${attempt.mx_ip})` : null
  const reply = `${attempt?.smtp_response} over ${attempt?.tls_version ?? 'an unencrypted connection'}`
  const isDelivered = attempt?.outcome === 'delivered'
  const detail = attempt === undefined ? 'no attempt was recorded' : `the attempt is ${attempt.outcome}: ${reply}`
  return [
    { name: 'MX', ok: host !== null, detail: host ?? 'no attempt with an MX host was recorded', ms: null },
    { name: 'delivered', ok: isDelivered, detail: isDelivered ? reply : detail, ms: null },
  ]
}

/** Message that the mail server received → stages `mail` and `signatures`. Null, a message that did not arrive in time,
 *  is one failed stage. `sentAt` is ms UTC. */
export function mailStages(
  mail: ArrivedMail | null,
  { mailServer, sentAt, colors }: { mailServer: string; sentAt: number; colors: Colors },
): Stage[] {
  if (mail === null) {
    const detail = `no mail arrived at ${mailServer} within ${seconds(STAGE_LIMIT_MS)}`
    return [{ name: 'mail', ok: false, detail, ms: null }]
  }
  const { at, from, subject, sizeBytes, tls, dkim } = mail
  const passed = dkim.filter(({ result }) => result === 'pass').map(({ algorithm }) => algorithm)
  const missing = WANTED.filter((algorithm) => !passed.includes(algorithm))
  const wanted = missing.length === 0 ? '' : `; missing a valid ${missing.join(' and ')} signature`
  const detail = `“${subject}” from ${from}, ${size(sizeBytes)}, ${tls ?? 'no TLS'}`
  return [
    { name: 'mail', ok: true, detail, ms: at - sentAt },
    { name: 'signatures', ok: missing.length === 0, detail: formatDkim(mail, colors) + wanted, ms: null },
  ]
}

/** Request with the event `message.delivered` → stage `webhook`. It fails for another message, an invalid signature,
 *  and null: a request that did not arrive in time. */
export function webhookStage(
  call: ArrivedCall | null,
  { messageId, url, sentAt, colors }: { messageId: string; url: string; sentAt: number; colors: Colors },
): Stage {
  if (call === null) {
    const detail = `no message.delivered event arrived at ${url} within ${seconds(STAGE_LIMIT_MS)}`
    return { name: 'webhook', ok: false, detail, ms: null }
  }
  const isOurs = call.data.message_id === messageId
  const isSigned = call.serviceSignature === 'valid' && call.standardSignature === 'valid'
  const of = isOurs ? '' : 'of a different message '
  const detail = `${call.type} ${of}for ${call.data.to}, ${formatSignatures(call, colors)}`
  return { name: 'webhook', ok: isOurs && isSigned, detail, ms: call.at - sentAt }
}

/** Stage → one line of the terminal, with a mark for its result. */
export function formatStage({ name, ok, detail, ms }: Stage, colors: Colors): string {
  const mark = ok ? colors.good('✓') : colors.bad('✗')
  return `  ${mark} ${name.padEnd(11)} ${detail}${ms === null ? '' : colors.dim(`  ${seconds(ms)}`)}`
}
