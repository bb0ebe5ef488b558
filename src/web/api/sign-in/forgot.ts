import { z } from 'zod'
import { Refusal } from '../../../model/refusal.ts'
import { foldedEmail } from '../../../model/user.ts'
import { createPasswordLink } from '../password-link.ts'
import type { Page } from '../route-table.ts'
import { json, MOST_EMAIL, type Peer, type SignInContext } from './context.ts'
import { mailAccount } from './limit.ts'

const body = z.strictObject({ email: z.string().max(MOST_EMAIL) })

/** `POST /session/forgot`: sends a link that sets a new password, if the address has an account with a password. Text,
 *  status and time of the response are the same for every address. */
export function forgotPage(context: SignInContext): Page {
  return { method: 'POST', path: '/session/forgot', handle: (request, _, peer) => forgot(context, request, peer) }
}

async function forgot(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { clock, log } = context
  context.requireOwnPage(request)
  context.requirePasswords()
  const { email } = await context.bodyOf(request, body)
  if (context.userMail.obstacle() !== null) throw new Refusal('invalid_state', UNAVAILABLE)
  const address = context.addressOf(request, peer)
  await context.take('forgot', address, mailAccount(email))
  // Nobody waits for the work, which takes longer with an account. It is done before the response, or asked for again.
  sendLink(context, email, address).catch((error) => log.error('password link not sent', { error }))
  await clock.steady.sleep(RESPONSE_MS)
  return json({ requested: true }, {}, 202)
}

/** Accounts without a password sign in otherwise, or have a link that still waits: a stranger must not end it. */
async function sendLink(context: SignInContext, email: string, address: string): Promise<void> {
  const { store, clock, log } = context
  const user = await store.users.findByEmail(foldedEmail(email))
  const hash = await store.users.passwordHash(user?.id ?? '')
  if (user === null || user.disabledAt !== null || hash === null) return
  const facts = { action: 'sessions_forgot', user, isUnproved: true, resourceId: user.id, address, fields: ['email'] }
  const { obstacle } = await createPasswordLink(context, user, {
    now: clock.now(),
    asked: true,
    change: (write) => context.audited(facts, write),
  })
  log.info('password link requested', { user_id: user.id, ip_address: address, mail: obstacle ?? 'queued' })
}

const UNAVAILABLE = 'This server sends no password links now. Ask its operator for one.'
/** Many times longer than the work takes. */
const RESPONSE_MS = 400
