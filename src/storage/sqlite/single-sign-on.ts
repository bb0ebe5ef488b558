import { gains, grantsOf, MAX_ROLES, type User, userWith } from '../../model/user.ts'
import type { Access, Identity, SingleSignOn } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { OTHER_OPERATORS, toUser, USER_COLUMNS, type UserRow } from './users.ts'
import type { Writer } from './writer.ts'

const ADD_REQUEST = 'insert into sign_on_requests (state_hash, browser_hash, expires_at) values (?, ?, ?)'
const TAKE_REQUEST = 'delete from sign_on_requests where state_hash = ? and browser_hash = ? and expires_at > ?'
const USER_OF = `select ${USER_COLUMNS} from user_identities i join users u on u.id = i.user_id
  where i.issuer = ? and i.subject = ?`
const LINK = `insert into user_identities (issuer, subject, user_id, created_at)
  select @issuer, @subject, id, @createdAt from users u where id = @userId
    and not exists (select 1 from user_identities where user_id = u.id and issuer = @issuer) on conflict do nothing`
const CREATE = `insert into users (id, email, email_verified_at, name, operator, password_hash, created_at)
  values (?, ?, ?, ?, ?, null, ?) on conflict (email) do nothing`
const ADD_ROLE = 'insert into user_roles (user_id, organization_id, role) values (?, ?, ?)'
const GET = `select ${USER_COLUMNS} from users u where u.id = ?`
const OTHER_MEMBERS = 'select count(*) from user_roles where organization_id = ? and user_id <> ?'
const SET_OPERATOR = 'update users set operator = ? where id = ?'
const REMOVE_ROLES = 'delete from user_roles where user_id = ?'
const END_SESSIONS = 'delete from sessions where user_id = ?'
const END = [END_SESSIONS, 'delete from password_resets where user_id = ?']

export function sqliteSingleSignOn(db: Connection, writer: Writer): SingleSignOn {
  const addRequest = db.prepare(ADD_REQUEST)
  const takeRequest = db.prepare(TAKE_REQUEST)
  const userOf = db.prepare<unknown[], UserRow>(USER_OF)
  const link = db.prepare(LINK)
  const create = db.prepare(CREATE)
  const addRole = db.prepare(ADD_ROLE)
  const get = db.prepare<unknown[], UserRow>(GET)
  const otherOperators = db.prepare<unknown[], number>(OTHER_OPERATORS).pluck()
  const otherMembers = db.prepare<unknown[], number>(OTHER_MEMBERS).pluck()
  const setOperator = db.prepare(SET_OPERATOR)
  const removeRoles = db.prepare(REMOVE_ROLES)
  const endSessions = db.prepare(END_SESSIONS)
  const ends = END.map((sql) => db.prepare(sql))

  const isLinked = ({ issuer, subject, createdAt }: Identity, userId: string) =>
    link.run({ issuer, subject, createdAt, userId }).changes > 0
  const isFull = (userId: string, { roles }: Pick<Access, 'roles'>) =>
    Object.keys(roles).length > MAX_ROLES ||
    Object.keys(roles).some((organizationId) => one(otherMembers, organizationId, userId) >= MAX_ROLES)
  const addRoles = (userId: string, { roles }: Pick<Access, 'roles'>) => {
    for (const [organizationId, role] of Object.entries(roles)) addRole.run(userId, organizationId, role)
  }

  return {
    addRequest: ({ stateHash, browserHash, expiresAt }) =>
      writer.write(() => {
        addRequest.run(stateHash, browserHash, expiresAt)
      }),
    takeRequest: (stateHash, browserHash, now) =>
      writer.write(() => takeRequest.run(stateHash, browserHash, now).changes > 0),
    userOf: async (issuer, subject) => {
      const row = userOf.get(issuer, subject)
      return row === undefined ? null : toUser(row)
    },
    link: (identity, userId) => writer.write(() => isLinked(identity, userId)),
    create: (user, identity) =>
      writer.write(() => {
        const { id, email, name, createdAt, emailVerifiedAt } = user
        const { isOperator } = grantsOf(user)
        if (userOf.get(identity.issuer, identity.subject) !== undefined) return 'taken'
        if (isFull(id, user)) return 'too_many'
        if (create.run(id, email, emailVerifiedAt, name, Number(isOperator), createdAt).changes === 0) return 'taken'
        isLinked(identity, id)
        addRoles(id, user)
        return 'created'
      }),
    setAccess: (userId, access) =>
      writer.write(() => {
        const row = get.get(userId)
        if (row === undefined) return 'unknown'
        const user: User = toUser(row)
        const loses = user.isOperator && !access.isOperator
        if (loses && user.disabledAt === null && one(otherOperators, userId) === 0) return 'last_operator'
        if (isFull(userId, access)) return 'too_many'
        setOperator.run(Number(access.isOperator), userId)
        removeRoles.run(userId)
        addRoles(userId, access)
        const hasNothing = !access.isOperator && Object.keys(access.roles).length === 0
        if (loses || hasNothing) for (const end of ends) end.run(userId)
        else if (gains(user, userWith(user, access))) endSessions.run(userId)
        return 'updated'
      }),
  }
}
