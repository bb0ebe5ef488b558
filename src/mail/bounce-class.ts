import { BOUNCE_RULES, type BounceClass, readable, takes } from './bounce-rules.ts'
import type { Reply } from './reply.ts'

export type { BounceClass } from './bounce-rules.ts'

/** A refusal and the rule that classified it, so that wrong classifications can be traced. */
export interface Classified {
  class: BounceClass
  rule: string
}

/** Reply that refused a mail (4yz or 5yz) → its class, by the first rule of bounce-rules.txt that takes it. Otherwise
 *  `unknown` with rule `none`, also for a bare 550, since a guess would suppress valid addresses. Never throws. */
export function classifyReply(reply: Reply): Classified {
  const text = readable(reply.text)
  const rule = BOUNCE_RULES.find((each) => takes(each, reply, text))
  if (rule === undefined) return { class: 'unknown', rule: 'none' }
  return { class: rule.class, rule: nameOf(rule.name, reply) }
}

/** Whether the class means that the address or its domain does not exist or accepts no mail. A permanent refusal of the
 *  recipient with such a class is a hard bounce. */
export function isGone(found: { class: string }): boolean {
  return found.class === 'no_mailbox' || found.class === 'no_domain'
}

/** Rules of codes alone carry the code: `enhanced-2.2`, `code-451`. */
function nameOf(name: string, { code, enhanced }: Reply): string {
  if (name === 'enhanced') return `enhanced-${enhanced?.slice(2)}`
  return name === 'code' ? `code-${code}` : name
}
