import type { Invitation } from '../../model/invitation.ts'
import { MAX_INVITATIONS } from '../../model/invitation.ts'
import { gains, MAX_ROLES } from '../../model/user.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Invitations } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import { LOCK_USER, toUser, USER_COLUMNS, type UserRow } from './users.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", email, role, invited_by as "invitedBy",
  created_at::float8 as "createdAt", expires_at::float8 as "expiresAt"`
const EXPIRED = 'delete from invitations where organization_id = $1 and (expires_at <= $2 or email = $3)'
const COUNT = 'select count(*)::int as count from invitations where organization_id = $1'
const CREATE = `insert into invitations (id, token_hash, organization_id, email, role, invited_by, created_at, expires_at,
    mailed_hash)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
const GET = `select ${COLUMNS} from invitations where id = $1`
const LIST = `select ${COLUMNS} from invitations where organization_id = $1 and expires_at > $2 and id < $3
  and created_at >= $4 and created_at < $5 order by id desc limit $6`
const REMOVE = 'delete from invitations where id = $1'
const IS_LINK = '(token_hash = $1 or mailed_hash = $1)'
const FIND = `select ${COLUMNS}, coalesce(mailed_hash = $1, false) as "isProof" from invitations
  where ${IS_LINK} and expires_at > $2`
// Before TAKE: a refusal leaves the invitation in place. A role that the user has is replaced, which is always possible.
const IS_FULL = `select 1 from invitations i where ${IS_LINK}
  and not exists (select 1 from user_roles where user_id = $2 and organization_id = i.organization_id)
  and ((select count(*) from user_roles where user_id = $2) >= ${MAX_ROLES}
    or (select count(*) from user_roles where organization_id = i.organization_id) >= ${MAX_ROLES})`
// Of two uses at once, the second one finds it deleted.
const TAKE = `delete from invitations where ${IS_LINK} and expires_at > $2 returning ${COLUMNS}`
const IS_TAKEN = 'select 1 from users where email = $1'
const CREATE_USER = `insert into users (id, email, name, operator, password_hash, created_at, email_verified_at, invited_to)
  values ($1, $2, $3, false, $4, $5, $6, $7)`
const GET_USER = `select ${USER_COLUMNS} from users u where u.id = $1`
const END_SESSIONS = 'delete from sessions where user_id = $1'
const ADD_ROLE = `insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)
  on conflict (user_id, organization_id) do update set role = excluded.role where user_roles.role <> 'owner'`

export function postgresInvitations(reads: Reads, writer: Writer): Invitations {
  const first = async (text: string, values: unknown[]) => (await reads.query<Invitation>(text, values))[0] ?? null
  const isFull = async ({ query }: Statements, tokenHash: Uint8Array, userId: string) =>
    (await query(IS_FULL, [tokenHash, userId])).length > 0

  return {
    create: ({ id, organizationId, email, role, invitedBy, createdAt, expiresAt }, { shown, mailed }) =>
      writer.write(async ({ query, run }) => {
        await run(EXPIRED, [organizationId, createdAt, email])
        const [row] = await query<{ count: number }>(COUNT, [organizationId])
        if ((row?.count ?? 0) >= MAX_INVITATIONS) return 'too_many'
        await run(CREATE, [id, shown, organizationId, email, role, invitedBy, createdAt, expiresAt, mailed])
        return 'created'
      }),
    get: (id) => first(GET, [id]),
    list: async (organizationId, now, page) =>
      toPage(await reads.query<Invitation>(LIST, [organizationId, now, ...rangeOf(page)]), page, (each) => each),
    remove: (id) =>
      writer.write(async ({ run }) => {
        await run(REMOVE, [id])
      }),
    find: async (tokenHash, now) => {
      const [row] = await reads.query<Invitation & { isProof: boolean }>(FIND, [tokenHash, now])
      if (row === undefined) return null
      const { isProof, ...invitation } = row
      return { invitation, isProof }
    },
    accept: (tokenHash, user, passwordHash) =>
      writer.write(async (statements) => {
        const { query, run } = statements
        if (await isFull(statements, tokenHash, user.id)) return 'too_many'
        if ((await query(IS_TAKEN, [user.email])).length > 0) return 'email_taken'
        const [invitation] = await query<Invitation>(TAKE, [tokenHash, user.createdAt])
        if (invitation === undefined) return 'unknown'
        const { id, email, name, createdAt, emailVerifiedAt, invitedTo } = user
        await run(CREATE_USER, [id, email, name, passwordHash, createdAt, emailVerifiedAt, invitedTo])
        await run(ADD_ROLE, [user.id, invitation.organizationId, invitation.role])
        return 'accepted'
      }),
    join: (tokenHash, userId, now) =>
      writer.write(async (statements) => {
        const { query, run } = statements
        await query(LOCK_USER, [userId])
        const [before] = await query<UserRow>(GET_USER, [userId])
        if (before === undefined) return 'unknown'
        if (await isFull(statements, tokenHash, userId)) return 'too_many'
        const [invitation] = await query<Invitation>(TAKE, [tokenHash, now])
        if (invitation === undefined) return 'unknown'
        await run(ADD_ROLE, [userId, invitation.organizationId, invitation.role])
        const [after = before] = await query<UserRow>(GET_USER, [userId])
        if (gains(toUser(before), toUser(after))) await run(END_SESSIONS, [userId])
        return 'accepted'
      }),
  }
}
