import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { CHALLENGE_MS } from '../../../model/factors.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Page } from '../route-table.ts'
import { hashToken, mintToken } from '../sessions.ts'
import { json, linkToken, type Peer, type SignInContext } from './context.ts'
import { enteredCode, givenCode } from './entered-code.ts'
import { openSession } from './open-session.ts'

const body = z.strictObject({ token: linkToken, code: givenCode })

/** `POST /session/code`: the second step of a sign-in with a password. */
export function codePage(context: SignInContext): Page {
  return { method: 'POST', path: '/session/code', handle: (request, _, peer) => signIn(context, request, peer) }
}

/** After a right password of a user with two-step sign-in → the response that asks for a code. Its token allows five
 *  tries within five minutes. */
export async function askForCode({ store, clock, random }: SignInContext, userId: string): Promise<Response> {
  const token = mintToken(random)
  const expiresAt = clock.now() + CHALLENGE_MS
  await store.factors.addChallenge({ kind: 'code', userId, expiresAt }, hashToken(token), clock.now())
  return json({ two_step: { token, expires_at: iso(expiresAt) } })
}

async function signIn(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, log } = context
  context.requireOwnPage(request)
  const { token, code } = await context.bodyOf(request, body)
  const address = context.addressOf(request, peer)
  const challengeHash = hashToken(token)
  const challenge = await store.factors.challenge(challengeHash, 'code', clock.now())
  const user = await store.users.get(challenge?.userId ?? '')
  await context.take('code', address, user?.id)
  if (user === null || !(await store.factors.countTry(challengeHash, clock.now()))) throw expired()
  const entered = await enteredCode(context, user.id, code)
  const proof = entered && ({ kind: 'code', challengeHash, code: entered } as const)
  const fields = [entered !== null && 'recoveryHash' in entered ? 'recovery_code' : 'code']
  const response =
    proof &&
    (await openSession(context, request, address, {
      user,
      fields,
      store: (session, tokenHash) => store.sessions.openByProof(proof, session, tokenHash),
    }))
  if (response !== null) return response
  log.warn('sign-in rejected', { by: 'code', user_id: user.id, ip_address: address })
  throw new Refusal('unauthorized', 'Wrong code, or it was already used. Enter the next code, or a recovery code.')
}

const expired = () => new Refusal('unauthorized', 'This sign-in has expired or had too many tries. Start again.')
