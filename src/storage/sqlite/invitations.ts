import type { Invitation } from '../../model/invitation.ts'
import { MAX_INVITATIONS } from '../../model/invitation.ts'
import { gains, MAX_ROLES } from '../../model/user.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Invitations } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { toUser, USER_COLUMNS, type UserRow } from './users.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, email, role, invited_by as invitedBy, created_at as createdAt,
  expires_at as expiresAt`
const EXPIRED = 'delete from invitations where organization_id = ? and (expires_at <= ? or email = ?)'
const COUNT = 'select count(*) from invitations where organization_id = ?'
const CREATE = `insert into invitations (id, token_hash, mailed_hash, organization_id, email, role, invited_by, created_at,
    expires_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const GET = `select ${COLUMNS} from invitations where id = ?`
const LIST = `select ${COLUMNS} from invitations
  where organization_id = ? and expires_at > ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const REMOVE = 'delete from invitations where id = ?'
const IS_LINK = '(i.token_hash = @tokenHash or i.mailed_hash = @tokenHash)'
const FIND = `select ${COLUMNS}, ifnull(mailed_hash = @tokenHash, false) as isProof from invitations i
  where ${IS_LINK} and expires_at > @now`
const CREATE_USER = `insert into users (id, email, email_verified_at, invited_to, name, operator, password_hash, created_at)
  values (?, ?, ?, ?, ?, 0, ?, ?) on conflict (email) do nothing`
const ADD_ROLE = `insert into user_roles (user_id, organization_id, role) values (?, ?, ?)
  on conflict (user_id, organization_id) do update set role = excluded.role where role <> 'owner'`
// A role that the user has is replaced, which is always possible.
const IS_FULL = `select 1 from invitations i where ${IS_LINK}
  and not exists (select 1 from user_roles where user_id = @userId and organization_id = i.organization_id)
  and ((select count(*) from user_roles where user_id = @userId) >= ${MAX_ROLES}
    or (select count(*) from user_roles where organization_id = i.organization_id) >= ${MAX_ROLES})`

const GET_USER = `select ${USER_COLUMNS} from users u where u.id = ?`
const END_SESSIONS = 'delete from sessions where user_id = ?'

export function sqliteInvitations(db: Connection, writer: Writer): Invitations {
  const expired = db.prepare(EXPIRED)
  const count = db.prepare<unknown[], number>(COUNT).pluck()
  const create = db.prepare(CREATE)
  const get = db.prepare<unknown[], Invitation>(GET)
  const list = db.prepare<unknown[], Invitation>(LIST)
  const remove = db.prepare(REMOVE)
  const find = db.prepare<unknown[], Invitation & { isProof: number }>(FIND)
  const createUser = db.prepare(CREATE_USER)
  const addRole = db.prepare(ADD_ROLE)
  const fullness = db.prepare<unknown[], number>(IS_FULL).pluck()
  const getUser = db.prepare<unknown[], UserRow>(GET_USER)
  const endSessions = db.prepare(END_SESSIONS)
  const isFull = (tokenHash: Uint8Array, userId: string) => fullness.get({ tokenHash, userId }) !== undefined
  const found = (tokenHash: Uint8Array, now: number) => {
    const row = find.get({ tokenHash, now })
    if (row === undefined) return null
    const { isProof, ...invitation } = row
    return { invitation, isProof: isProof === 1 }
  }

  return {
    create: ({ id, organizationId, email, role, invitedBy, createdAt, expiresAt }, { shown, mailed }) =>
      writer.write(() => {
        expired.run(organizationId, createdAt, email)
        if (one(count, organizationId) >= MAX_INVITATIONS) return 'too_many'
        create.run(id, shown, mailed, organizationId, email, role, invitedBy, createdAt, expiresAt)
        return 'created'
      }),
    get: async (id) => get.get(id) ?? null,
    list: async (organizationId, now, page) =>
      toPage(list.all(organizationId, now, ...rangeOf(page)), page, (invitation) => invitation),
    remove: (id) =>
      writer.write(() => {
        remove.run(id)
      }),
    find: async (tokenHash, now) => found(tokenHash, now),
    accept: (tokenHash, user, passwordHash) =>
      writer.write(() => {
        const link = found(tokenHash, user.createdAt)
        if (link === null) return 'unknown'
        const { invitation } = link
        const { id, email, emailVerifiedAt, invitedTo, name, createdAt } = user
        if (isFull(tokenHash, id)) return 'too_many'
        const values = [id, email, emailVerifiedAt, invitedTo, name, passwordHash, createdAt]
        if (createUser.run(...values).changes === 0) return 'email_taken'
        addRole.run(id, invitation.organizationId, invitation.role)
        remove.run(invitation.id)
        return 'accepted'
      }),
    join: (tokenHash, userId, now) =>
      writer.write(() => {
        const link = found(tokenHash, now)
        const before = getUser.get(userId)
        if (link === null || before === undefined) return 'unknown'
        if (isFull(tokenHash, userId)) return 'too_many'
        addRole.run(userId, link.invitation.organizationId, link.invitation.role)
        remove.run(link.invitation.id)
        if (gains(toUser(before), toUser(getUser.get(userId) ?? before))) endSessions.run(userId)
        return 'accepted'
      }),
  }
}
