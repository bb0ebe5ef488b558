import { ApiError, type Json } from '../../kit/api.ts'
import { href } from '../../kit/router.ts'

/** The templates that a refused change or deletion of a layout or partial names; null for other errors. */
export function usersIn(thrown: unknown): Json[] | null {
  return thrown instanceof ApiError && thrown.details.reason === 'template_in_use' ? thrown.details.used_by : null
}

/** Why a layout or partial was not deleted or renamed: links to the templates that use it. */
export function InUse({ noun, users }: { noun: string; users: readonly Json[] }) {
  return (
    <div class="notice bad stack tight" role="alert">
      <p>
        {users.length === 1 ? 'This template uses' : 'These templates use'} the {noun}. Change{' '}
        {users.length === 1 ? 'it' : 'them'} first.
      </p>
      <ul>
        {users.map(({ id, name, alias }) => (
          <li key={id}>
            <a href={href(`/templates/${id}`)}>{name}</a> {alias !== null && <code>{alias}</code>}
          </li>
        ))}
      </ul>
      {users.length === MOST && <p class="muted small">Only the first {MOST} are listed.</p>}
    </div>
  )
}

/** The API lists at most this many. */
const MOST = 20
