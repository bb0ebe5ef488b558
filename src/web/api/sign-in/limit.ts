import { hash } from 'node:crypto'
import { foldedEmail } from '../../../model/user.ts'
import { clientOf, networkOf } from '../../../net/ip.ts'
import { createLocalRates } from '../../../net/limiters/local-rates.ts'
import type { Rates } from '../../../storage/store.ts'

/** Limits sign-in attempts. */
export interface SignInLimit {
  /** Resolves with 0 and counts the attempt if it is allowed, otherwise with the seconds to wait. `now` is in ms.
   *  Rejects with the error of the store. */
  take(attempt: SignInAttempt, now: number): Promise<number>
}

export interface SignInAttempt {
  kind: 'link' | 'password' | 'code' | 'passkey' | 'forgot'
  /** Client address, '' if unknown. */
  address: string
  /** User ID, or `mail` and the address as entered (mailAccount), whether or not the account exists. */
  account?: string | undefined
  /** Somebody has signed in to the account with this browser before (known-client.ts). */
  isKnown?: boolean | undefined
}

/** Creates a SignInLimit: ten attempts per minute for each client address (/64 network for IPv6) and each account; thirty
 *  for the only user, whose name a stranger need not know. A known client has ten of its own for the account, so that
 *  strangers cannot lock the user out. No limit is for the whole server, where a stranger could use it up: hashes wait in
 *  turn instead (password.ts). Of codes also twenty per hour for each account: with its password, guessing codes at ten per
 *  minute would succeed within three weeks (3 of 10⁶ codes are right at any time). Only holders of the password can use
 *  these up. Of passkeys also sixty per minute for each network (/24, /56), because each stores a challenge. Of password
 *  links also three at once for each account and one more every 30 minutes, ten for each client address and one more every
 *  five minutes, and thirty per minute for each network. `rates` counts for all nodes; by default the counts are in memory,
 *  and a restart resets them. */
export function createSignInLimit(rates: Pick<Rates, 'take'> | null = null): SignInLimit {
  const { take } = rates ?? createLocalRates()
  return {
    take: async ({ kind, address, account, isKnown = false }, now) => {
      const rules = [{ name: `sign-in ${clientOf(address)}`, ...ONE }]
      if (kind === 'passkey') rules.push({ name: `passkeys from ${networkOf(address)}`, ...PASSKEYS })
      if (kind === 'forgot') {
        rules.push(
          { name: `password links from ${networkOf(address)}`, ...LINKS_OF_NETWORK },
          { name: `password links for ${clientOf(address)}`, ...LINKS_OF_CLIENT },
        )
        if (account !== undefined) rules.push({ name: `password links of ${nameOf(account)}`, ...LINKS_OF_ACCOUNT })
      }
      if (account !== undefined) {
        const limit = account === ONLY_USER ? ONLY : ONE
        rules.push({ name: `sign-in of ${nameOf(account)}${isKnown ? ' in a known browser' : ''}`, ...limit })
      }
      if (kind === 'code' && account !== undefined) rules.push({ name: `codes of ${nameOf(account)}`, ...CODES })
      return Math.ceil((await take(rules, now)) / 1000)
    },
  }
}

/** An address that somebody entered, as the name of an account in limits. It never is the name of a user ID. */
export const mailAccount = (email: string): string => `mail ${email}`

/** While there is one user, sign-in needs no address. */
const ONLY_USER = mailAccount('')

/** Accounts that a client invents must not make long names, nor show in a database. */
function nameOf(account: string): string {
  return hash('sha256', foldedEmail(account), 'hex').slice(0, 32)
}

const ONE = { everyMs: 6_000, burst: 10 }
const ONLY = { everyMs: 2_000, burst: 30 }
const CODES = { everyMs: 180_000, burst: 20 }
const PASSKEYS = { everyMs: 1_000, burst: 60 }
const LINKS_OF_NETWORK = { everyMs: 2_000, burst: 30 }
/** Requests that use up the limit of an account only cause mails that its owner may want. */
const LINKS_OF_ACCOUNT = { everyMs: 1_800_000, burst: 3 }
const LINKS_OF_CLIENT = { everyMs: 300_000, burst: 10 }
