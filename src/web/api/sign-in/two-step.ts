import { z } from 'zod'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { Page } from '../route-table.ts'
import { type Confirmation, confirmation, requireConfirmed } from './confirm.ts'
import { json, type Peer, type SignInContext } from './context.ts'
import { givenCode } from './entered-code.ts'
import { mintRecoveryCodes } from './recovery-codes.ts'
import { base32, stepOfCode, TOTP_SECRET_BYTES, totpUri } from './totp.ts'

const confirmBody = z.strictObject(confirmation)
const enableBody = z.strictObject({ code: givenCode })

/** The pages with which users set up two-step sign-in with an app: a secret, its first code, then recovery codes. Every
 *  change but the first code needs the password or a code again, so that a stolen session cannot lock its user out. */
export function twoStepPages(context: SignInContext): Page[] {
  const page = (path: string, handle: (context: SignInContext, request: Request, peer: Peer) => Promise<Response>) =>
    ({
      method: 'POST',
      path: `/session/two-step${path}`,
      handle: (request, _, peer) => handle(context, request, peer),
    }) satisfies Page
  return [page('', begin), page('/enable', enable), page('/disable', disable), page('/recovery-codes', renew)]
}

/** A new secret, which waits for its first code. */
async function begin(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, random } = context
  const { user, address } = await confirmed(context, request, peer)
  const secret = random.bytes(TOTP_SECRET_BYTES)
  const facts = { action: 'two_step_begin', user, resourceId: user.id, address }
  const begun = await context.audited(facts, () => store.factors.beginTotp(user.id, secret, clock.now()))
  if (begun === 'enabled') throw new Refusal('conflict', 'Two-step sign-in is already on. Turn it off first.')
  const host = URL.parse(`http://${request.headers.get('host') ?? ''}`)?.hostname
  const issuer = host === undefined ? 'Postrider' : `Postrider ${host}`
  const uri = totpUri(secret, { issuer, account: user.email ?? user.name })
  return json({ secret: base32(secret), uri }, {}, 201)
}

async function enable(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, random } = context
  const { session, user } = await context.requireSession(request)
  context.requireOwnPage(request)
  const { code } = await context.bodyOf(request, enableBody)
  const address = context.addressOf(request, peer)
  await context.take('code', address, user.id)
  const totp = await store.factors.totp(user.id)
  const now = clock.now()
  const step = totp === null ? null : stepOfCode(totp.secret, code.replaceAll(/\s/g, ''), now)
  if (totp === null || step === null) {
    throw invalid([{ field: 'code', message: 'code is wrong. Check that the clock of your device is right' }])
  }
  const { codes, hashes } = mintRecoveryCodes(random)
  const facts = { action: 'two_step_enable', user, resourceId: user.id, address }
  const isEnabled = await context.audited(facts, () =>
    store.factors.enableTotp(user.id, { step, begunAt: totp.createdAt, recoveryHashes: hashes, now }, session.id),
  )
  if (!isEnabled) throw new Refusal('conflict', 'Two-step sign-in is already on, or its set-up was started again.')
  return json({ recovery_codes: codes })
}

async function disable(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { session, user, address } = await confirmed(context, request, peer)
  const facts = { action: 'two_step_disable', user, resourceId: user.id, address }
  await context.audited(facts, () => context.store.factors.disableTotp(user.id, session.id))
  return json({ enabled: false })
}

/** New recovery codes in place of all earlier ones. */
async function renew(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { session, user, address } = await confirmed(context, request, peer)
  const { codes, hashes } = mintRecoveryCodes(context.random)
  const facts = { action: 'two_step_recovery_codes', user, resourceId: user.id, address }
  const isRenewed = await context.audited(facts, () =>
    context.store.factors.replaceRecoveryCodes(user.id, hashes, session.id),
  )
  if (!isRenewed) throw new Refusal('conflict', 'Two-step sign-in is off. Turn it on first.')
  return json({ recovery_codes: codes })
}

/** A request with a session and a confirmation. */
async function confirmed(context: SignInContext, request: Request, peer: Peer) {
  const signedIn = await context.requireSession(request)
  context.requireOwnPage(request)
  const given: Confirmation = await context.bodyOf(request, confirmBody)
  const address = context.addressOf(request, peer)
  await requireConfirmed(context, signedIn, given, address)
  return { ...signedIn, address }
}
