import {
  type FactorSummary,
  MAX_CODE_TRIES,
  MAX_PASSKEYS,
  type Passkey,
  type SignInChallenge,
  type Totp,
  type UsedCode,
} from '../../model/factors.ts'
import type { Encryption } from '../encryption.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'
import { END_CHALLENGE, isOpen, useCode } from './sign-in-proofs.ts'
import { endSignIns, LOCK_USER } from './user-rows.ts'

const SUMMARIES = sql<FactorSummary & { userId: string }>(`select id as "userId",
    exists (select 1 from totp where user_id = users.id and enabled_at is not null)::boolean as "hasTotp",
    (select count(*) from passkeys where user_id = users.id) as passkeys
  from users where id = any($1::text[])`)
const TOTP = sql<Totp>(`select secret, (enabled_at is not null)::boolean as "isEnabled", created_at as "createdAt"
  from totp where user_id = $1`)
const BEGIN_TOTP = sql(`insert into totp (user_id, secret, last_step, created_at) values ($1, $2, 0, $3)
  on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
  where totp.enabled_at is null`)
const ENABLE_TOTP = sql(`update totp set enabled_at = $2, last_step = $3
  where user_id = $1 and enabled_at is null and created_at = $4`)
const LOCK_ENABLED = sql<object>('select 1 from totp where user_id = $1 and enabled_at is not null for update')
const ADD_RECOVERY_CODE = sql('insert into recovery_codes (user_id, code_hash) values ($1, $2)')
const REMOVE_RECOVERY_CODES = sql('delete from recovery_codes where user_id = $1')
const RECOVERY_CODES_LEFT = sql<{ count: number }>('select count(*) as count from recovery_codes where user_id = $1')
const REMOVE_TOTP = sql('delete from totp where user_id = $1')
const PASSKEY = `select id, user_id as "userId", credential_id as "credentialId", public_key as "publicKey", counter,
  transports, name, created_at as "createdAt", last_used_at as "lastUsedAt" from passkeys`
const PASSKEYS = sql<Row>(`${PASSKEY} where user_id = $1 order by id`)
const FIND_PASSKEY = sql<Row>(`${PASSKEY} where credential_id = $1`)
const ADD_PASSKEY = sql(`insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name,
    created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing`)
const COUNT_PASSKEYS = sql<{ count: number }>('select count(*) as count from passkeys where user_id = $1')
const REMOVE_PASSKEY = sql('delete from passkeys where user_id = $1 and id = $2')
const ADD_CHALLENGE = sql(`insert into sign_in_challenges (token_hash, kind, user_id, tries, expires_at)
  values ($1, $2, $3, 0, $4)`)
const CHALLENGE = sql<{ userId: string; expiresAt: number }>(`select user_id as "userId", expires_at as "expiresAt"
  from sign_in_challenges where token_hash = $1 and kind = $2 and expires_at > $3`)
const COUNT_TRY = sql(`update sign_in_challenges set tries = tries + 1
  where token_hash = $1 and expires_at > $2 and tries < $3`)
const PRUNE_CHALLENGES = sql(`delete from sign_in_challenges where token_hash = any(array(
  select token_hash from sign_in_challenges where expires_at <= $1 order by expires_at limit $2
  for update skip locked))`)

/** What users sign in with besides a password, and steps that wait for an answer. Tokens and recovery codes are passed as
 *  SHA-256. There is no cache: a change holds for the next request on every node. Methods with `keep` end every other
 *  session of the user, and sign-ins under way. */
export function factorRecords(database: Database, encryption: Encryption) {
  return {
    /** By user ID; users without any are left out. */
    summaries: async (userIds: readonly string[]): Promise<ReadonlyMap<string, FactorSummary>> => {
      const rows = await database.rows(SUMMARIES, userIds)
      const known = rows.filter(({ hasTotp, passkeys }) => hasTotp || passkeys > 0)
      return new Map(known.map(({ userId, ...summary }) => [userId, summary]))
    },
    /** Null if none was set up. */
    totp: async (userId: string): Promise<Totp | null> => {
      const totp = await database.row(TOTP, userId)
      return totp === null ? null : { ...totp, secret: encryption.decrypt(totp.secret, `totp ${userId}`) }
    },
    /** Stores a secret that waits for its first code, in place of an earlier one. `enabled` if one is in use. */
    beginTotp: async (userId: string, secret: Uint8Array, now: number): Promise<'begun' | 'enabled'> => {
      const encrypted = encryption.encrypt(secret, `totp ${userId}`)
      return (await database.count(BEGIN_TOTP, userId, encrypted, now)) === 0 ? 'enabled' : 'begun'
    },
    /** Takes the waiting secret in use, with `step` as used and new recovery codes. False if none waits that was stored at
     *  `begunAt`: another page may have begun again since the code was checked. */
    enableTotp: (
      userId: string,
      {
        step,
        begunAt,
        recoveryHashes,
        now,
      }: { step: number; begunAt: number; recoveryHashes: readonly Uint8Array[]; now: number },
      keep: string,
    ): Promise<boolean> =>
      database.write(function* () {
        if ((yield* run(ENABLE_TOTP, userId, now, step, begunAt)) === 0) return false
        yield* replaceCodes(userId, recoveryHashes)
        yield* endSignIns(userId, keep)
        return true
      }),
    /** Uses a code: true once for each recovery code, and for each time step, unless a newer one was used. */
    useCode: (userId: string, code: UsedCode): Promise<boolean> => database.write(() => useCode(userId, code)),
    recoveryCodesLeft: async (userId: string): Promise<number> =>
      (await database.row(RECOVERY_CODES_LEFT, userId))?.count ?? 0,
    /** Replaces all recovery codes. False unless codes of an app are in use. */
    replaceRecoveryCodes: (userId: string, hashes: readonly Uint8Array[], keep: string): Promise<boolean> =>
      database.write(function* () {
        if ((yield* row(LOCK_ENABLED, userId)) === null) return false
        yield* replaceCodes(userId, hashes)
        yield* endSignIns(userId, keep)
        return true
      }),
    /** Removes app and recovery codes. */
    disableTotp: (userId: string, keep: string): Promise<void> =>
      database.write(function* () {
        yield* run(REMOVE_TOTP, userId)
        yield* run(REMOVE_RECOVERY_CODES, userId)
        yield* endSignIns(userId, keep)
      }),
    /** Oldest first. */
    passkeys: async (userId: string): Promise<Passkey[]> => (await database.rows(PASSKEYS, userId)).map(toPasskey),
    findPasskey: async (credentialId: string): Promise<Passkey | null> => {
      const found = await database.row(FIND_PASSKEY, credentialId)
      return found === null ? null : toPasskey(found)
    },
    /** Adds a passkey and uses up its challenge. `unknown` if the challenge is not valid any more, `taken` if the
     *  credential is known, `too_many` beyond MAX_PASSKEYS. */
    addPasskey: (passkey: Passkey, challengeHash: Uint8Array): Promise<'added' | 'unknown' | 'taken' | 'too_many'> =>
      database.write(() => addPasskey(passkey, challengeHash)),
    /** False if the user has no such passkey. */
    removePasskey: (userId: string, id: string, keep: string): Promise<boolean> =>
      database.write(function* () {
        if ((yield* run(REMOVE_PASSKEY, userId, id)) === 0) return false
        yield* endSignIns(userId, keep)
        return true
      }),
    /** Stores a challenge, and deletes some that expired before `now`. */
    addChallenge: ({ kind, userId, expiresAt }: SignInChallenge, tokenHash: Uint8Array, now: number): Promise<void> =>
      database.write(function* () {
        yield* run(PRUNE_CHALLENGES, now, PRUNED)
        yield* run(ADD_CHALLENGE, tokenHash, kind, userId ?? '', expiresAt)
      }),
    /** The challenge of a token; null if there is none of that kind, it was used, or it has expired. */
    challenge: async (
      tokenHash: Uint8Array,
      kind: SignInChallenge['kind'],
      now: number,
    ): Promise<SignInChallenge | null> => {
      const found = await database.row(CHALLENGE, tokenHash, kind, now)
      return found === null ? null : { kind, userId: found.userId || null, expiresAt: found.expiresAt }
    },
    /** Counts a try before it is made. False beyond MAX_CODE_TRIES, also on another node. */
    countTry: async (tokenHash: Uint8Array, now: number): Promise<boolean> =>
      (await database.count(COUNT_TRY, tokenHash, now, MAX_CODE_TRIES)) > 0,
  }
}

function* replaceCodes(userId: string, hashes: readonly Uint8Array[]): Work<void> {
  yield* run(REMOVE_RECOVERY_CODES, userId)
  for (const hash of hashes) yield* run(ADD_RECOVERY_CODE, userId, hash)
}

function* addPasskey(
  { id, userId, credentialId, publicKey, counter, transports, name, createdAt }: Passkey,
  challengeHash: Uint8Array,
): Work<'added' | 'unknown' | 'taken' | 'too_many'> {
  yield* row(LOCK_USER, userId) // of two at once, the second one counts the first one
  if (!(yield* isOpen(challengeHash, { kind: 'new_passkey', userId, now: createdAt }))) return 'unknown'
  if (((yield* row(COUNT_PASSKEYS, userId))?.count ?? 0) >= MAX_PASSKEYS) return 'too_many'
  const values = [id, userId, credentialId, publicKey, counter, JSON.stringify(transports), name, createdAt]
  if ((yield* run(ADD_PASSKEY, ...values)) === 0) return 'taken'
  yield* run(END_CHALLENGE, challengeHash)
  return 'added'
}

/** More than one, so that expired challenges become fewer. */
const PRUNED = 10

type Row = Omit<Passkey, 'transports'> & { transports: string }

function toPasskey({ transports, ...rest }: Row): Passkey {
  return { ...rest, transports: JSON.parse(transports) as string[] } // written as JSON of them
}
