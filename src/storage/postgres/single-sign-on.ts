import { gains, grantsOf, MAX_ROLES, type User, userWith } from '../../model/user.ts'
import type { Access, Identity, SingleSignOn } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import { LOCK_OPERATORS, LOCK_USER, toUser, USER_COLUMNS, type UserRow } from './users.ts'
import type { Writer } from './writer.ts'

const ADD_REQUEST = 'insert into sign_on_requests (state_hash, browser_hash, expires_at) values ($1, $2, $3)'
const TAKE_REQUEST = 'delete from sign_on_requests where state_hash = $1 and browser_hash = $2 and expires_at > $3'
const USER_OF = `select ${USER_COLUMNS} from user_identities i join users u on u.id = i.user_id
  where i.issuer = $1 and i.subject = $2`
const LINK = `insert into user_identities (issuer, subject, user_id, created_at)
  select $1, $2, id, $3::bigint from users u where id = $4
    and not exists (select 1 from user_identities where user_id = u.id and issuer = $1) on conflict do nothing`
const CREATE = `insert into users (id, email, name, operator, password_hash, created_at, email_verified_at)
  values ($1, $2, $3, $4, null, $5, $6) on conflict (email) do nothing`
const ADD_ROLE = 'insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)'
const GET = `select ${USER_COLUMNS} from users u where u.id = $1`
const FULL = `select organization_id from user_roles where organization_id = any($1) and user_id <> $2
  group by organization_id having count(*) >= ${MAX_ROLES}`
const SET_OPERATOR = 'update users set operator = $2 where id = $1'
const REMOVE_ROLES = 'delete from user_roles where user_id = $1'
const END_SESSIONS = 'delete from sessions where user_id = $1'
const END = [END_SESSIONS, 'delete from password_resets where user_id = $1']

export function postgresSingleSignOn(reads: Reads, writer: Writer): SingleSignOn {
  const userOf = async ({ query }: Queries, { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>) => {
    const [row] = await query<UserRow>(USER_OF, [issuer, subject])
    return row === undefined ? null : toUser(row)
  }
  const isLinked = async ({ run }: Statements, { issuer, subject, createdAt }: Identity, userId: string) =>
    (await run(LINK, [issuer, subject, createdAt, userId])) > 0
  const isFull = async ({ query }: Statements, userId: string, { roles }: Pick<Access, 'roles'>) => {
    const ids = Object.keys(roles)
    return ids.length > MAX_ROLES || (await query(FULL, [ids, userId])).length > 0
  }
  const addRoles = async ({ run }: Statements, userId: string, { roles }: Pick<Access, 'roles'>) => {
    for (const [organizationId, role] of Object.entries(roles)) await run(ADD_ROLE, [userId, organizationId, role])
  }

  return {
    addRequest: ({ stateHash, browserHash, expiresAt }) =>
      writer.write(async ({ run }) => {
        await run(ADD_REQUEST, [stateHash, browserHash, expiresAt])
      }),
    takeRequest: (stateHash, browserHash, now) =>
      writer.write(async ({ run }) => (await run(TAKE_REQUEST, [stateHash, browserHash, now])) > 0),
    userOf: (issuer, subject) => userOf(reads, { issuer, subject }),
    link: (identity, userId) =>
      writer.write(async (statements) => {
        await statements.query(LOCK_USER, [userId])
        return isLinked(statements, identity, userId)
      }),
    create: (user, identity) =>
      writer.write(async (statements) => {
        const { id, email, name, createdAt, emailVerifiedAt } = user
        const { isOperator } = grantsOf(user)
        if ((await userOf(statements, identity)) !== null) return 'taken'
        if (await isFull(statements, id, user)) return 'too_many'
        if ((await statements.run(CREATE, [id, email, name, isOperator, createdAt, emailVerifiedAt])) === 0)
          return 'taken'
        await isLinked(statements, identity, id)
        await addRoles(statements, id, user)
        return 'created'
      }),
    setAccess: (userId, access) =>
      writer.write(async (statements) => {
        const operators = await statements.query<{ id: string }>(LOCK_OPERATORS)
        await statements.query(LOCK_USER, [userId])
        const [row] = await statements.query<UserRow>(GET, [userId])
        if (row === undefined) return 'unknown'
        const user: User = toUser(row)
        const loses = user.isOperator && !access.isOperator
        if (loses && user.disabledAt === null && operators.every(({ id }) => id === userId)) return 'last_operator'
        if (await isFull(statements, userId, access)) return 'too_many'
        await statements.run(SET_OPERATOR, [userId, access.isOperator])
        await statements.run(REMOVE_ROLES, [userId])
        await addRoles(statements, userId, access)
        const hasNothing = !access.isOperator && Object.keys(access.roles).length === 0
        if (loses || hasNothing) for (const text of END) await statements.run(text, [userId])
        else if (gains(user, userWith(user, access))) await statements.run(END_SESSIONS, [userId])
        return 'updated'
      }),
  }
}
