import type { MailLog } from '../../os/mail-log.ts'
import type { Registry } from './registry.ts'

/** Seconds; an attempt may take half an hour, most take less than one. */
const ATTEMPT_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800]
/** Result words of RFC 8601; anything else is `other`. */
const VERDICTS = ['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror']

/** Wraps a MailLog and counts each fact, so that logged facts are also available as metrics. */
export function countMail(registry: Registry, log: MailLog): MailLog {
  const accepted = registry.counter('postrider_messages_accepted_total', 'Messages accepted.', ['mode'])
  const recipients = registry.counter('postrider_recipients_accepted_total', 'Recipients of accepted messages.', [
    'mode',
  ])
  const suppressed = registry.counter(
    'postrider_recipients_suppressed_total',
    'Recipients whose delivery ended because they are suppressed.',
  )
  const attempts = registry.histogram(
    'postrider_delivery_attempt_seconds',
    'Duration of delivery attempts, by outcome (delivered, deferred, bounced_soft, bounced_hard).',
    ATTEMPT_BOUNDS,
    ['outcome'],
  )
  const relayed = registry.counter(
    'postrider_relay_attempts_total',
    'Delivery attempts through each relay, by outcome (delivered, deferred, bounced).',
    ['relay', 'outcome'],
  )
  const countRelay = ({ relay }: { relay?: string }, outcome: string) => {
    if (relay !== undefined) relayed([relay, outcome])
  }
  const reported = registry.counter(
    'postrider_reports_total',
    'Late bounces, complaints and unsubscribe requests by mail.',
    ['kind'],
  )
  const received = registry.counter('postrider_inbound_received_total', 'Inbound messages accepted by a route.')
  const bytes = registry.counter(
    'postrider_inbound_received_bytes_total',
    'Size of inbound messages accepted by a route.',
  )
  const verdicts = registry.counter(
    'postrider_inbound_verdicts_total',
    'SPF, DKIM and DMARC results of inbound messages.',
    ['method', 'result'],
  )
  const policyReports = registry.counter(
    'postrider_policy_reports_total',
    'DMARC and TLS reports received by mail, by outcome; only those with outcome stored count.',
    ['kind', 'outcome'],
  )
  const refused = registry.counter('postrider_smtp_refused_total', 'Rejections by SMTP listeners, by reply code.', [
    'door',
    'code',
  ])
  return {
    accepted: (fact) => {
      accepted([fact.mode])
      recipients([fact.mode], fact.recipients)
      log.accepted(fact)
    },
    suppressed: (fact) => {
      suppressed([], fact.recipients)
      log.suppressed(fact)
    },
    delivered: (fact) => {
      attempts(fact.durationMs / 1000, ['delivered'])
      countRelay(fact, 'delivered')
      log.delivered(fact)
    },
    deferred: (fact) => {
      attempts(fact.durationMs / 1000, ['deferred'])
      countRelay(fact, 'deferred')
      log.deferred(fact)
    },
    bounced: (fact) => {
      attempts(fact.durationMs / 1000, [`bounced_${fact.type}`])
      countRelay(fact, 'bounced')
      log.bounced(fact)
    },
    reported: (fact) => {
      reported([fact.kind])
      log.reported(fact)
    },
    received: (fact) => {
      received()
      bytes([], fact.sizeBytes)
      for (const method of ['spf', 'dkim', 'dmarc'] as const) verdicts([method, verdict(fact[method])])
      log.received(fact)
    },
    policyReport: (fact) => {
      policyReports([fact.kind, fact.outcome])
      log.policyReport(fact)
    },
    refused: (fact) => {
      refused([fact.listener, /^[245]\d\d/.exec(fact.reply)?.[0] ?? 'none'])
      log.refused(fact)
    },
  }
}

function verdict(result: string): string {
  return VERDICTS.includes(result) ? result : 'other'
}
