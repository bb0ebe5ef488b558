import { Fragment } from 'preact'
import { ApiError, type Json } from '../../kit/api.ts'
import { href } from '../../kit/router.ts'

/** The templates that a refused change or deletion of a layout or partial names; null for other errors. */
export function usersIn(thrown: unknown): Json[] | null {
  return thrown instanceof ApiError && thrown.details.reason === 'template_in_use' ? thrown.details.used_by : null
}

/** Why a layout or partial was not deleted or renamed: links to the templates that use it. */
export function InUse({ noun, users }: { noun: string; users: readonly Json[] }) {
  return (
    <p class="notice bad break" role="alert">
      {users.length === 1 ? 'One template uses' : 'Templates use'} this {noun}. Change{' '}
      {users.length === 1 ? 'it' : 'them'} first:{' '}
      {users.map(({ id, name }, at) => (
        <Fragment key={id}>
          {at > 0 && ', '}
          <a href={href(`/templates/${id}`)}>{name}</a>
        </Fragment>
      ))}
      {users.length === MOST && ' and possibly more'}.
    </p>
  )
}

/** The API lists at most this many. */
const MOST = 20
