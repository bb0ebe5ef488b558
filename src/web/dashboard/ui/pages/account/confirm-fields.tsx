import type { ComponentChildren } from 'preact'
import { signOut } from '../../kit/api.ts'
import { Field } from '../../kit/form.tsx'
import { session } from '../../kit/state.ts'
import { attempt } from '../../kit/toast.tsx'

/** Response of `GET /session/factors`. */
export interface Factors {
  has_password: boolean
  two_step: boolean
  recovery_codes_left: number
  passkeys: { id: string; name: string; created_at: string; last_used_at: string | null }[]
}

/** Length of time after a sign-in in which it confirms a change of an account without password and code. The server has the
 *  same limit (web/api/sign-in/confirm.ts) and decides. */
const RECENT_MS = 10 * 60_000

/** The form of a change that the user confirms. Without a password and a code only a recent sign-in confirms it: where the
 *  last one is too old, the user signs in again first, before filling anything in, and comes back to this page. */
export function Confirmed({ of, children }: { of: Factors; children: ComponentChildren }) {
  const signedInAt = Date.parse(session.value?.session.created_at ?? '')
  if (of.has_password || of.two_step || Date.now() - signedInAt < RECENT_MS) return children
  return (
    <div class="stack">
      <p>You signed in more than ten minutes ago. Sign in again to change how you sign in.</p>
      <div class="actions">
        <button type="button" class="primary" onClick={() => attempt(signOut)}>
          Sign in again
        </button>
      </div>
    </div>
  )
}

/** Fields that confirm a change: the password or a code, as far as the user has them. */
export function ConfirmFields({ of: { has_password, two_step } }: { of: Factors }) {
  return (
    <>
      {has_password && (
        <Field name="password" label={two_step ? 'Your password, or a code below' : 'Your password'}>
          {(control) => <input {...control} type="password" autocomplete="current-password" required={!two_step} />}
        </Field>
      )}
      {two_step && (
        <Field name="code" label={has_password ? 'Code' : 'Code from your app, or a recovery code'}>
          {(control) => <input {...control} autocomplete="one-time-code" required={!has_password} />}
        </Field>
      )}
    </>
  )
}
