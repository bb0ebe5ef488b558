import { type FactorSummary, MAX_CODE_TRIES, MAX_PASSKEYS, type Passkey, type Totp } from '../../model/factors.ts'
import type { Encryption } from '../encryption.ts'
import type { Factors } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import { answer, useCode } from './sign-in-proofs.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const SUMMARIES = `select wanted.id as "userId",
    exists (select 1 from totp where user_id = wanted.id and enabled_at is not null) as "hasTotp",
    (select count(*)::int from passkeys where user_id = wanted.id) as passkeys
  from unnest($1::text[]) as wanted (id)`
const TOTP =
  'select secret, enabled_at is not null as "isEnabled", created_at::float8 as "createdAt" from totp where user_id = $1'
const BEGIN_TOTP = `insert into totp (user_id, secret, last_step, created_at) values ($1, $2, 0, $3)
  on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
  where totp.enabled_at is null`
const ENABLE_TOTP = 'update totp set enabled_at = $2, last_step = $3 where user_id = $1 and enabled_at is null'
const LOCK_ENABLED = 'select 1 from totp where user_id = $1 and enabled_at is not null for update'
const ADD_RECOVERY_CODE = 'insert into recovery_codes (user_id, code_hash) values ($1, $2)'
const REMOVE_RECOVERY_CODES = 'delete from recovery_codes where user_id = $1'
const RECOVERY_CODES_LEFT = 'select count(*)::int as count from recovery_codes where user_id = $1'
const REMOVE_TOTP = 'delete from totp where user_id = $1'
const PASSKEY = `select id, user_id as "userId", credential_id as "credentialId", public_key as "publicKey",
  counter::float8 as counter, transports, name, created_at::float8 as "createdAt",
  last_used_at::float8 as "lastUsedAt" from passkeys`
const PASSKEYS = `${PASSKEY} where user_id = $1 order by id`
const FIND_PASSKEY = `${PASSKEY} where credential_id = $1`
const LOCK_USER = 'select 1 from users where id = $1 for update'
const ADD_PASSKEY = `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing`
const COUNT_PASSKEYS = 'select count(*)::int as count from passkeys where user_id = $1'
const REMOVE_PASSKEY = 'delete from passkeys where user_id = $1 and id = $2'
const REMOVE_PASSKEYS = 'delete from passkeys where user_id = $1'
const ADD_CHALLENGE = `insert into sign_in_challenges (token_hash, kind, user_id, tries, expires_at)
  values ($1, $2, $3, 0, $4)`
const CHALLENGE = `select user_id as "userId", expires_at::float8 as "expiresAt" from sign_in_challenges
  where token_hash = $1 and kind = $2 and expires_at > $3`
const COUNT_TRY = `update sign_in_challenges set tries = tries + 1
  where token_hash = $1 and expires_at > $2 and tries < $3`
const PRUNE_CHALLENGES = `delete from sign_in_challenges where token_hash = any(array(
  select token_hash from sign_in_challenges where expires_at <= $1 order by expires_at limit $2 for update skip locked))`
const END_CHALLENGES = 'delete from sign_in_challenges where user_id = $1'
const END_SESSIONS = 'delete from sessions where user_id = $1 and id is distinct from $2::text'

/** Without a cache or mirror: a change holds on every node at once. */
export function postgresFactors(reads: Reads, writer: Writer, encryption: Encryption): Factors {
  const end = async ({ run }: Statements, userId: string, keep: string | null) => {
    await run(END_CHALLENGES, [userId])
    await run(END_SESSIONS, [userId, keep])
  }
  const replaceCodes = async ({ run }: Statements, userId: string, hashes: readonly Uint8Array[]) => {
    await run(REMOVE_RECOVERY_CODES, [userId])
    for (const hash of hashes) await run(ADD_RECOVERY_CODE, [userId, hash])
  }

  return {
    summaries: async (userIds) => {
      const rows = await reads.query<FactorSummary & { userId: string }>(SUMMARIES, [textArray(userIds)])
      const known = rows.filter(({ hasTotp, passkeys }) => hasTotp || passkeys > 0)
      return new Map(known.map(({ userId, ...summary }) => [userId, summary]))
    },
    totp: async (userId) => {
      const [row] = await reads.query<Totp>(TOTP, [userId])
      return row === undefined ? null : { ...row, secret: encryption.decrypt(row.secret, `totp ${userId}`) }
    },
    beginTotp: (userId, secret, now) =>
      writer.write(async ({ run }) => {
        const encrypted = encryption.encrypt(secret, `totp ${userId}`)
        return (await run(BEGIN_TOTP, [userId, encrypted, now])) === 0 ? 'enabled' : 'begun'
      }),
    enableTotp: (userId, { step, recoveryHashes, now }, keep) =>
      writer.write(async (statements) => {
        if ((await statements.run(ENABLE_TOTP, [userId, now, step])) === 0) return false
        await replaceCodes(statements, userId, recoveryHashes)
        await end(statements, userId, keep)
        return true
      }),
    useCode: (userId, code) => writer.write((statements) => useCode(statements, userId, code)),
    recoveryCodesLeft: async (userId) =>
      (await reads.query<{ count: number }>(RECOVERY_CODES_LEFT, [userId]))[0]?.count ?? 0,
    replaceRecoveryCodes: (userId, hashes, keep) =>
      writer.write(async (statements) => {
        if ((await statements.query(LOCK_ENABLED, [userId])).length === 0) return false
        await replaceCodes(statements, userId, hashes)
        await end(statements, userId, keep)
        return true
      }),
    disableTotp: (userId, keep) =>
      writer.write(async (statements) => {
        await statements.run(REMOVE_TOTP, [userId])
        await statements.run(REMOVE_RECOVERY_CODES, [userId])
        await end(statements, userId, keep)
      }),
    passkeys: async (userId) => (await reads.query<Row>(PASSKEYS, [userId])).map(toPasskey),
    findPasskey: async (credentialId) => {
      const [row] = await reads.query<Row>(FIND_PASSKEY, [credentialId])
      return row === undefined ? null : toPasskey(row)
    },
    addPasskey: (passkey, challengeHash) =>
      writer.write(async (statements) => {
        const { id, userId, credentialId, publicKey, counter, transports, name, createdAt } = passkey
        let result: 'unknown' | 'added' | 'taken' | 'too_many' = 'unknown'
        await statements.query(LOCK_USER, [userId]) // of two at once, the second one counts the first one
        await answer(statements, challengeHash, { kind: 'new_passkey', userId, now: createdAt }, async () => {
          const [row] = await statements.query<{ count: number }>(COUNT_PASSKEYS, [userId])
          const values = [id, userId, credentialId, publicKey, counter, JSON.stringify(transports), name, createdAt]
          if ((row?.count ?? 0) >= MAX_PASSKEYS) result = 'too_many'
          else result = (await statements.run(ADD_PASSKEY, values)) === 0 ? 'taken' : 'added'
          return result === 'added'
        })
        return result
      }),
    removePasskey: (userId, id, keep) =>
      writer.write(async (statements) => {
        if ((await statements.run(REMOVE_PASSKEY, [userId, id])) === 0) return false
        await end(statements, userId, keep)
        return true
      }),
    clear: (userId) =>
      writer.write(async (statements) => {
        for (const text of [REMOVE_TOTP, REMOVE_RECOVERY_CODES, REMOVE_PASSKEYS]) await statements.run(text, [userId])
        await end(statements, userId, null)
      }),
    addChallenge: ({ kind, userId, expiresAt }, tokenHash, now) =>
      writer.write(async ({ run }) => {
        await run(PRUNE_CHALLENGES, [now, PRUNED])
        await run(ADD_CHALLENGE, [tokenHash, kind, userId ?? '', expiresAt])
      }),
    challenge: async (tokenHash, kind, now) => {
      const [row] = await reads.query<{ userId: string; expiresAt: number }>(CHALLENGE, [tokenHash, kind, now])
      return row === undefined ? null : { kind, userId: row.userId || null, expiresAt: row.expiresAt }
    },
    countTry: (tokenHash, now) =>
      writer.write(async ({ run }) => (await run(COUNT_TRY, [tokenHash, now, MAX_CODE_TRIES])) > 0),
  }
}

/** More than one, so that expired challenges become fewer. */
const PRUNED = 10

type Row = Omit<Passkey, 'transports'> & { transports: string }

function toPasskey({ transports, ...row }: Row): Passkey {
  return { ...row, transports: JSON.parse(transports) as string[] }
}
