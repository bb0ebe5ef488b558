import { z } from 'zod'
import { Refusal } from '../../../model/refusal.ts'
import type { Page } from '../route-table.ts'
import { hashToken } from '../sessions.ts'
import { askForCode } from './code.ts'
import { givenPassword, linkToken, MOST_EMAIL, type Peer, type SignInContext } from './context.ts'
import { isKnownClient } from './known-client.ts'
import { mailAccount } from './limit.ts'
import { openSession, type Proved } from './open-session.ts'
import { userOfPassword, WRONG_PASSWORD } from './user-of-password.ts'

const passwordBody = z.strictObject({ email: z.string().max(MOST_EMAIL).optional(), password: givenPassword })
const body = z.union([z.strictObject({ token: linkToken }), passwordBody])
type Body = z.infer<typeof body>

/** `POST /session`: a user signs in with email address and password; the password alone is enough while there is one user.
 *  An operator can also sign in with a link from the command line. All invalid links get the same response, and so do all
 *  wrong passwords. Attempts are limited (limit.ts). */
export function signInPage(context: SignInContext): Page {
  return { method: 'POST', path: '/session', handle: (request, _, peer) => signIn(context, request, peer) }
}

async function signIn(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  context.requireOwnPage(request)
  const given = await context.bodyOf(request, body)
  if (!('token' in given)) context.requirePasswords()
  const address = context.addressOf(request, peer)
  const proved =
    'token' in given
      ? await byLink(context, given.token, address)
      : await byPassword(context, given, { address, isKnown: await isKnownClient(context, request, given.email) })
  if (proved instanceof Response) return proved
  const response = proved === null ? null : await openSession(context, request, address, proved)
  if (response !== null) return response
  context.log.warn('sign-in rejected', { by: 'token' in given ? 'token' : 'password', ip_address: address })
  throw new Refusal('unauthorized', refusalOf(given))
}

/** Sign-in links of the command line belong to an operator. */
async function byLink(context: SignInContext, token: string, address: string): Promise<Proved | null> {
  await context.take('link', address)
  const { store, clock } = context
  const { users, sessions } = store
  const user = await users.get((await sessions.userOfLink(hashToken(token), clock.now())) ?? '')
  if (user === null) return null
  return {
    user,
    fields: ['token'],
    overridesOnly: true,
    store: async (session, tokenHash) => (await sessions.openByLink(hashToken(token), session, tokenHash)) === 'opened',
  }
}

/** With two-step sign-in, the response that asks for a code: nothing differs before the password is right. */
async function byPassword(
  context: SignInContext,
  given: z.infer<typeof passwordBody>,
  { address, isKnown }: { address: string; isKnown: boolean },
): Promise<Proved | Response | null> {
  await context.take('password', address, mailAccount(given.email ?? ''), isKnown)
  const { users, sessions, factors } = context.store
  const found = await userOfPassword(users, given, isKnown)
  if (found === null) return null
  const { user, hash } = found
  if ((await factors.totp(user.id))?.isEnabled) return askForCode(context, user.id)
  const store: Proved['store'] = (session, tokenHash) =>
    sessions.openByProof({ kind: 'password', passwordHash: hash }, session, tokenHash)
  return { user, fields: Object.keys(given), store }
}

function refusalOf(given: Body): string {
  if ('token' in given) return 'This link has expired or was already used. Create a new one with postrider login-link.'
  return given.email === undefined ? 'Wrong password, or no password is set.' : WRONG_PASSWORD
}
