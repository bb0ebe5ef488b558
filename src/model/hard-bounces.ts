import type { BounceType, Cause } from './delivery.ts'

/** Bounce classes that concern the recipient's address. Config `sending.hard_bounces` names those that are hard. */
export const ADDRESS_CLASSES = ['no_mailbox', 'no_domain', 'mailbox_disabled', 'mailbox_full'] as const
export type AddressClass = (typeof ADDRESS_CLASSES)[number]

/** Postmark also suppresses addresses that do not exist, and counts full and disabled mailboxes as soft bounces
 *  (postmarkapp.com/developer/api/bounce-api#bounce-types). */
export const USUAL_HARD: readonly AddressClass[] = ['no_mailbox', 'no_domain']

/** A final refusal → its type: hard if `hard` names its class. Other classes keep the type that they have: they say
 *  nothing about the address. */
export function chosenType(
  refusal: { bounceType: BounceType; cause: Cause },
  hard: readonly AddressClass[],
): BounceType {
  const known = ADDRESS_CLASSES.find((each) => each === refusal.cause.class)
  if (known === undefined) return refusal.bounceType
  return hard.includes(known) ? 'hard' : 'soft'
}
