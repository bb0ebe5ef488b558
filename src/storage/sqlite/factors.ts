import { type FactorSummary, MAX_CODE_TRIES, MAX_PASSKEYS, type Passkey } from '../../model/factors.ts'
import type { Encryption } from '../encryption.ts'
import type { Factors } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { proofsInside } from './sign-in-proofs.ts'
import type { Writer } from './writer.ts'

const SUMMARIES = `select value as userId,
    exists (select 1 from totp where user_id = value and enabled_at is not null) as hasTotp,
    (select count(*) from passkeys where user_id = value) as passkeys
  from json_each(?)`
const TOTP = 'select secret, enabled_at as enabledAt, created_at as createdAt from totp where user_id = ?'
const BEGIN_TOTP = `insert into totp (user_id, secret, last_step, created_at) values (?, ?, 0, ?)
  on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
  where enabled_at is null`
const ENABLE_TOTP = 'update totp set enabled_at = ?, last_step = ? where user_id = ? and enabled_at is null'
const IS_ENABLED = 'select 1 from totp where user_id = ? and enabled_at is not null'
const ADD_RECOVERY_CODE = 'insert into recovery_codes (user_id, code_hash) values (?, ?)'
const REMOVE_RECOVERY_CODES = 'delete from recovery_codes where user_id = ?'
const RECOVERY_CODES_LEFT = 'select count(*) from recovery_codes where user_id = ?'
const REMOVE_TOTP = 'delete from totp where user_id = ?'
const PASSKEY = `select id, user_id as userId, credential_id as credentialId, public_key as publicKey, counter, transports,
  name, created_at as createdAt, last_used_at as lastUsedAt from passkeys`
const PASSKEYS = `${PASSKEY} where user_id = ? order by id`
const FIND_PASSKEY = `${PASSKEY} where credential_id = ?`
const ADD_PASSKEY = `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (credential_id) do nothing`
const COUNT_PASSKEYS = 'select count(*) from passkeys where user_id = ?'
const REMOVE_PASSKEY = 'delete from passkeys where user_id = ? and id = ?'
const REMOVE_PASSKEYS = 'delete from passkeys where user_id = ?'
const ADD_CHALLENGE = `insert into sign_in_challenges (token_hash, kind, user_id, tries, expires_at)
  values (?, ?, ?, 0, ?)`
const CHALLENGE = `select user_id as userId, expires_at as expiresAt from sign_in_challenges
  where token_hash = ? and kind = ? and expires_at > ?`
const COUNT_TRY = `update sign_in_challenges set tries = tries + 1 where token_hash = ? and expires_at > ? and tries < ?`
const PRUNE_CHALLENGES = `delete from sign_in_challenges where token_hash in
  (select token_hash from sign_in_challenges where expires_at <= ? order by expires_at limit ?)`
const END_CHALLENGES = 'delete from sign_in_challenges where user_id = ?'
const END_SESSIONS = 'delete from sessions where user_id = ? and id is not ?'

export function sqliteFactors(db: Connection, writer: Writer, encryption: Encryption): Factors {
  const summaries = db.prepare<unknown[], { userId: string; hasTotp: number; passkeys: number }>(SUMMARIES)
  const totp = db.prepare<unknown[], { secret: Uint8Array; enabledAt: number | null; createdAt: number }>(TOTP)
  const beginTotp = db.prepare(BEGIN_TOTP)
  const enableTotp = db.prepare(ENABLE_TOTP)
  const isEnabled = db.prepare(IS_ENABLED)
  const addRecoveryCode = db.prepare(ADD_RECOVERY_CODE)
  const removeRecoveryCodes = db.prepare(REMOVE_RECOVERY_CODES)
  const recoveryCodesLeft = db.prepare<unknown[], number>(RECOVERY_CODES_LEFT).pluck()
  const removeTotp = db.prepare(REMOVE_TOTP)
  const passkeys = db.prepare<unknown[], Row>(PASSKEYS)
  const findPasskey = db.prepare<unknown[], Row>(FIND_PASSKEY)
  const addPasskey = db.prepare(ADD_PASSKEY)
  const countPasskeys = db.prepare<unknown[], number>(COUNT_PASSKEYS).pluck()
  const removePasskey = db.prepare(REMOVE_PASSKEY)
  const removePasskeys = db.prepare(REMOVE_PASSKEYS)
  const addChallenge = db.prepare(ADD_CHALLENGE)
  const challenge = db.prepare<unknown[], { userId: string; expiresAt: number }>(CHALLENGE)
  const countTry = db.prepare(COUNT_TRY)
  const pruneChallenges = db.prepare(PRUNE_CHALLENGES)
  const endChallenges = db.prepare(END_CHALLENGES)
  const endSessions = db.prepare(END_SESSIONS)
  const { answer, useCode } = proofsInside(db)

  const end = (userId: string, keep: string | null) => {
    endChallenges.run(userId)
    endSessions.run(userId, keep)
  }
  const replaceCodes = (userId: string, hashes: readonly Uint8Array[]) => {
    removeRecoveryCodes.run(userId)
    for (const hash of hashes) addRecoveryCode.run(userId, hash)
  }

  return {
    summaries: async (userIds) => {
      const rows = summaries.all(JSON.stringify(userIds)).filter(({ hasTotp, passkeys: count }) => hasTotp + count > 0)
      return new Map<string, FactorSummary>(
        rows.map(({ userId, hasTotp, passkeys: count }) => [userId, { hasTotp: hasTotp === 1, passkeys: count }]),
      )
    },
    totp: async (userId) => {
      const row = totp.get(userId)
      if (row === undefined) return null
      const { secret, enabledAt, createdAt } = row
      return { secret: encryption.decrypt(secret, `totp ${userId}`), isEnabled: enabledAt !== null, createdAt }
    },
    beginTotp: (userId, secret, now) =>
      writer.write(() =>
        beginTotp.run(userId, encryption.encrypt(secret, `totp ${userId}`), now).changes === 0 ? 'enabled' : 'begun',
      ),
    enableTotp: (userId, { step, recoveryHashes, now }, keep) =>
      writer.write(() => {
        if (enableTotp.run(now, step, userId).changes === 0) return false
        replaceCodes(userId, recoveryHashes)
        end(userId, keep)
        return true
      }),
    useCode: (userId, code) => writer.write(() => useCode(userId, code)),
    recoveryCodesLeft: async (userId) => one(recoveryCodesLeft, userId),
    replaceRecoveryCodes: (userId, hashes, keep) =>
      writer.write(() => {
        if (isEnabled.get(userId) === undefined) return false
        replaceCodes(userId, hashes)
        end(userId, keep)
        return true
      }),
    disableTotp: (userId, keep) =>
      writer.write(() => {
        removeTotp.run(userId)
        removeRecoveryCodes.run(userId)
        end(userId, keep)
      }),
    passkeys: async (userId) => passkeys.all(userId).map(toPasskey),
    findPasskey: async (credentialId) => {
      const row = findPasskey.get(credentialId)
      return row === undefined ? null : toPasskey(row)
    },
    addPasskey: (passkey, challengeHash) =>
      writer.write(() => {
        const { id, userId, credentialId, publicKey, counter, transports, name, createdAt } = passkey
        let result: 'unknown' | 'added' | 'taken' | 'too_many' = 'unknown'
        answer(challengeHash, { kind: 'new_passkey', userId, now: createdAt }, () => {
          const values = [id, userId, credentialId, publicKey, counter, JSON.stringify(transports), name, createdAt]
          if (one(countPasskeys, userId) >= MAX_PASSKEYS) result = 'too_many'
          else result = addPasskey.run(...values).changes === 0 ? 'taken' : 'added'
          return result === 'added'
        })
        return result
      }),
    removePasskey: (userId, id, keep) =>
      writer.write(() => {
        if (removePasskey.run(userId, id).changes === 0) return false
        end(userId, keep)
        return true
      }),
    clear: (userId) =>
      writer.write(() => {
        for (const statement of [removeTotp, removeRecoveryCodes, removePasskeys]) statement.run(userId)
        end(userId, null)
      }),
    addChallenge: ({ kind, userId, expiresAt }, tokenHash, now) =>
      writer.write(() => {
        pruneChallenges.run(now, PRUNED)
        addChallenge.run(tokenHash, kind, userId ?? '', expiresAt)
      }),
    challenge: async (tokenHash, kind, now) => {
      const row = challenge.get(tokenHash, kind, now)
      return row === undefined ? null : { kind, userId: row.userId || null, expiresAt: row.expiresAt }
    },
    countTry: (tokenHash, now) => writer.write(() => countTry.run(tokenHash, now, MAX_CODE_TRIES).changes > 0),
  }
}

/** More than one, so that expired challenges become fewer. */
const PRUNED = 10

type Row = Omit<Passkey, 'transports'> & { transports: string }

function toPasskey({ transports, ...row }: Row): Passkey {
  return { ...row, transports: JSON.parse(transports) as string[] }
}
