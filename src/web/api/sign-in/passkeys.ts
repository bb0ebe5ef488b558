import { z } from 'zod'
import { CHALLENGE_MS, MAX_PASSKEYS, type Passkey, type SignInChallenge } from '../../../model/factors.ts'
import { Refusal } from '../../../model/refusal.ts'
import { base62 } from '../base62.ts'
import type { Page } from '../route-table.ts'
import { label } from '../schema.ts'
import { hashToken } from '../sessions.ts'
import { confirmation, requireConfirmed } from './confirm.ts'
import { json, type Peer, type SignInContext } from './context.ts'
import { openSession } from './open-session.ts'
import {
  assertion,
  challengeOf,
  creationOptions,
  MOST_CREDENTIAL_BYTES,
  newCredential,
  requestOptions,
  verifiedCounter,
  verifiedCredential,
} from './webauthn.ts'

const confirmBody = z.strictObject(confirmation)
const addBody = z.strictObject({ name: label(100), credential: newCredential })
const removeBody = z.strictObject({ id: z.string().max(100), ...confirmation })
const nothing = z.strictObject({})

/** The pages with which users add and remove their passkeys, and sign in with one. */
export function passkeyPages(context: SignInContext): Page[] {
  const page = (path: string, handle: (context: SignInContext, request: Request, peer: Peer) => Promise<Response>) =>
    ({
      method: 'POST',
      path: `/session/${path}`,
      handle: (request, _, peer) => handle(context, request, peer),
    }) satisfies Page
  return [
    page('passkey/options', askToSignIn),
    page('passkey', signIn),
    page('passkeys/options', askForNew),
    page('passkeys', add),
    page('passkeys/remove', remove),
  ]
}

/** Stores a new challenge → its text, base64url as browsers expect it. */
async function newChallenge(
  { store, clock, random }: SignInContext,
  kind: SignInChallenge['kind'],
  userId: string | null,
): Promise<string> {
  const challenge = base62(CHALLENGE_CHARACTERS, random)
  const expiresAt = clock.now() + CHALLENGE_MS
  await store.factors.addChallenge({ kind, userId, expiresAt }, hashToken(challenge), clock.now())
  return challenge
}

/** 256 random bits; a multiple of four characters, so that base64url decodes and encodes it without a change. */
const CHALLENGE_CHARACTERS = 44

async function askToSignIn(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const origin = context.ownOrigin.pageOrigin(request)
  context.requireOwnPage(request)
  await context.bodyOf(request, nothing)
  await context.take('passkey', context.addressOf(request, peer))
  return json(requestOptions(await newChallenge(context, 'passkey', null), new URL(origin).hostname), {}, 201)
}

/** Every answer that is not valid gets the same refusal. */
async function signIn(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, log } = context
  const origin = context.ownOrigin.pageOrigin(request)
  context.requireOwnPage(request)
  const given = await context.bodyOf(request, assertion, MOST_CREDENTIAL_BYTES)
  const address = context.addressOf(request, peer)
  const challenge = challengeOf(given.client_data)
  const challengeHash = hashToken(challenge)
  const isAsked = (await store.factors.challenge(challengeHash, 'passkey', clock.now())) !== null
  const passkey =
    isAsked && (await store.factors.countTry(challengeHash, clock.now()))
      ? await store.factors.findPasskey(given.id)
      : null
  const user = passkey && (await store.users.get(passkey.userId))
  const counter = passkey && (await verifiedCounter(given, passkey, { challenge, origin }))
  if (passkey !== null && user !== null && counter !== null) {
    const proof = { kind: 'passkey', challengeHash, passkeyId: passkey.id, counter } as const
    const response = await openSession(context, request, address, {
      user,
      fields: ['passkey'],
      store: (session, tokenHash) => store.sessions.openByProof(proof, session, tokenHash),
    })
    if (response !== null) return response
  }
  log.warn('sign-in rejected', { by: 'passkey', user_id: user?.id ?? '', ip_address: address })
  throw new Refusal('unauthorized', 'This passkey does not open an account here. Sign in another way.')
}

async function askForNew(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const signedIn = await context.requireSession(request)
  const origin = context.ownOrigin.pageOrigin(request)
  context.requireOwnPage(request)
  const given = await context.bodyOf(request, confirmBody)
  await requireConfirmed(context, signedIn, given, context.addressOf(request, peer))
  const { user } = signedIn
  const known = await context.store.factors.passkeys(user.id)
  if (known.length >= MAX_PASSKEYS) throw tooMany()
  const challenge = await newChallenge(context, 'new_passkey', user.id)
  return json(creationOptions(challenge, { user, host: new URL(origin).hostname, known }), {}, 201)
}

async function add(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { store, clock, mintId } = context
  const { user } = await context.requireSession(request)
  const origin = context.ownOrigin.pageOrigin(request)
  context.requireOwnPage(request)
  const { name, credential } = await context.bodyOf(request, addBody, MOST_CREDENTIAL_BYTES)
  const challenge = challengeOf(credential.client_data)
  const verified = await verifiedCredential(credential, { challenge, origin })
  if (verified === null) throw unusable()
  const passkey: Passkey = {
    ...verified,
    id: mintId('psk'),
    userId: user.id,
    name,
    createdAt: clock.now(),
    lastUsedAt: null,
  }
  const address = context.addressOf(request, peer)
  const facts = { action: 'passkeys_create', user, resourceId: passkey.id, address, fields: ['name'] }
  const result = await context.audited(facts, () => store.factors.addPasskey(passkey, hashToken(challenge)))
  if (result === 'too_many') throw tooMany()
  if (result === 'taken') throw new Refusal('conflict', 'This passkey is already registered.')
  if (result === 'unknown') throw unusable()
  return json({ id: passkey.id }, {}, 201)
}

async function remove(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const signedIn = await context.requireSession(request)
  context.requireOwnPage(request)
  const { id, ...given } = await context.bodyOf(request, removeBody)
  const address = context.addressOf(request, peer)
  await requireConfirmed(context, signedIn, given, address)
  const { session, user } = signedIn
  const facts = { action: 'passkeys_delete', user, resourceId: id, address }
  const isRemoved = await context.audited(facts, () => context.store.factors.removePasskey(user.id, id, session.id))
  if (!isRemoved) throw new Refusal('not_found', 'No such passkey. It may have been removed.')
  return json({ id, deleted: true })
}

const tooMany = () => new Refusal('conflict', `You have ${MAX_PASSKEYS} passkeys. Remove one first.`)
const unusable = () => new Refusal('invalid_state', 'The passkey could not be verified. Start again.')
