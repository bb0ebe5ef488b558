import type { Reply } from '../mail/reply.ts'
import type { Outcome } from './delivery.ts'
import type { Reaction } from './reaction.ts'

/** The simulated result of `svc_test_` mail for one recipient. */
export interface Simulation {
  /** One per attempt; the last is final. Empty when suppressed. */
  outcomes: Outcome[]
  /** Reactions after the delivery, in order. */
  then: Reaction[]
  /** Treated like a suppressed address: no attempt. */
  suppressed: boolean
}

/** Recipient of test mail → its simulation; nothing is sent. The local part selects it, in any letter case and with any
 *  `+tag`; unknown names are delivered. A recipient who clicks, complains or unsubscribes has received the mail; one
 *  who clicks has opened it. Never throws. */
export function simulate(email: string): Simulation {
  const local = email.slice(0, Math.max(0, email.lastIndexOf('@'))).toLowerCase()
  const [name = ''] = local.split('+', 1)
  switch (name) {
    case 'bounce':
      return simulation([bounced('hard', `550 5.1.1 <${email}>: user unknown (sandbox)`)])
    case 'softbounce':
      return simulation([bounced('soft', '552 5.2.2 mailbox full (sandbox)')])
    case 'defer':
      return simulation([DEFERRED, DELIVERED])
    case 'suppressed':
      return { ...simulation([]), suppressed: true }
    default:
      return simulation([DELIVERED], REACTIONS.get(name))
  }
}

/** Test mail and attempt number (1 = first) → the simulated outcome. Attempts beyond the table repeat the last outcome;
 *  a suppressed recipient that is attempted anyway counts as delivered. */
export function simulatedOutcome(email: string, attempt: number): Outcome {
  const { outcomes } = simulate(email)
  return outcomes[attempt - 1] ?? outcomes.at(-1) ?? DELIVERED
}

const REACTIONS = new Map<string, Reaction[]>([
  ['complain', ['complained']],
  ['open', ['opened']],
  ['click', ['opened', 'clicked']],
  ['unsubscribe', ['unsubscribed']],
  ['reply', ['replied']],
])

function simulation(outcomes: Outcome[], reactions: Reaction[] = []): Simulation {
  // biome-ignore lint/suspicious/noThenProperty: a list cannot be called, so this is never treated as a promise
  return { outcomes, then: reactions, suppressed: false }
}

const causeOf = (rule: string) => ({ class: 'sandbox', rule: `sandbox:${rule}` })

const ACCEPTED: Reply = { code: 250, enhanced: '2.0.0', text: 'Ok: accepted (sandbox, not sent)' }
const DELIVERED: Outcome = { kind: 'delivered', reply: ACCEPTED }
const DEFERRED: Outcome = {
  kind: 'deferred',
  code: '4.3.2',
  message: '451 4.3.2 try again later (sandbox)',
  aboutRecipient: false,
  cause: causeOf('defer'),
}

function bounced(bounceType: 'hard' | 'soft', message: string): Outcome {
  const [, code = ''] = message.split(' ')
  return { kind: 'bounced', bounceType, code, message, cause: causeOf(`${bounceType} bounce`) }
}
