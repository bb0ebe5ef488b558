import { type FactorSummary, MAX_CODE_TRIES, MAX_PASSKEYS, type Passkey, type Totp } from '../../model/factors.ts'
import type { Encryption } from '../encryption.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'
import type { Factors } from '../store.ts'
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
const ENABLE_TOTP = sql(`update totp set enabled_at = $2, last_step = $3 where user_id = $1 and enabled_at is null`)
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
const REMOVE_PASSKEYS = sql('delete from passkeys where user_id = $1')
const ADD_CHALLENGE = sql(`insert into sign_in_challenges (token_hash, kind, user_id, tries, expires_at)
  values ($1, $2, $3, 0, $4)`)
const CHALLENGE = sql<{ userId: string; expiresAt: number }>(`select user_id as "userId", expires_at as "expiresAt"
  from sign_in_challenges where token_hash = $1 and kind = $2 and expires_at > $3`)
const COUNT_TRY = sql(`update sign_in_challenges set tries = tries + 1
  where token_hash = $1 and expires_at > $2 and tries < $3`)
const PRUNE_CHALLENGES = sql(`delete from sign_in_challenges where token_hash = any(array(
  select token_hash from sign_in_challenges where expires_at <= $1 order by expires_at limit $2
  for update skip locked))`)

/** Without a cache: a change holds on every node at once. */
export function factorRecords(database: Database, encryption: Encryption): Factors {
  return {
    summaries: async (userIds) => {
      const rows = await database.rows(SUMMARIES, userIds)
      const known = rows.filter(({ hasTotp, passkeys }) => hasTotp || passkeys > 0)
      return new Map(known.map(({ userId, ...summary }) => [userId, summary]))
    },
    totp: async (userId) => {
      const totp = await database.row(TOTP, userId)
      return totp === null ? null : { ...totp, secret: encryption.decrypt(totp.secret, `totp ${userId}`) }
    },
    beginTotp: async (userId, secret, now) => {
      const encrypted = encryption.encrypt(secret, `totp ${userId}`)
      return (await database.count(BEGIN_TOTP, userId, encrypted, now)) === 0 ? 'enabled' : 'begun'
    },
    enableTotp: (userId, { step, recoveryHashes, now }, keep) =>
      database.write(function* () {
        if ((yield* run(ENABLE_TOTP, userId, now, step)) === 0) return false
        yield* replaceCodes(userId, recoveryHashes)
        yield* endSignIns(userId, keep)
        return true
      }),
    useCode: (userId, code) => database.write(() => useCode(userId, code)),
    recoveryCodesLeft: async (userId) => (await database.row(RECOVERY_CODES_LEFT, userId))?.count ?? 0,
    replaceRecoveryCodes: (userId, hashes, keep) =>
      database.write(function* () {
        if ((yield* row(LOCK_ENABLED, userId)) === null) return false
        yield* replaceCodes(userId, hashes)
        yield* endSignIns(userId, keep)
        return true
      }),
    disableTotp: (userId, keep) =>
      database.write(function* () {
        yield* run(REMOVE_TOTP, userId)
        yield* run(REMOVE_RECOVERY_CODES, userId)
        yield* endSignIns(userId, keep)
      }),
    passkeys: async (userId) => (await database.rows(PASSKEYS, userId)).map(toPasskey),
    findPasskey: async (credentialId) => {
      const found = await database.row(FIND_PASSKEY, credentialId)
      return found === null ? null : toPasskey(found)
    },
    addPasskey: (passkey, challengeHash) => database.write(() => addPasskey(passkey, challengeHash)),
    removePasskey: (userId, id, keep) =>
      database.write(function* () {
        if ((yield* run(REMOVE_PASSKEY, userId, id)) === 0) return false
        yield* endSignIns(userId, keep)
        return true
      }),
    clear: (userId) =>
      database.write(function* () {
        for (const statement of [REMOVE_TOTP, REMOVE_RECOVERY_CODES, REMOVE_PASSKEYS]) yield* run(statement, userId)
        yield* endSignIns(userId, null)
      }),
    addChallenge: ({ kind, userId, expiresAt }, tokenHash, now) =>
      database.write(function* () {
        yield* run(PRUNE_CHALLENGES, now, PRUNED)
        yield* run(ADD_CHALLENGE, tokenHash, kind, userId ?? '', expiresAt)
      }),
    challenge: async (tokenHash, kind, now) => {
      const found = await database.row(CHALLENGE, tokenHash, kind, now)
      return found === null ? null : { kind, userId: found.userId || null, expiresAt: found.expiresAt }
    },
    countTry: async (tokenHash, now) => (await database.count(COUNT_TRY, tokenHash, now, MAX_CODE_TRIES)) > 0,
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
