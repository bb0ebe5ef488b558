import { Field } from '../../kit/form.tsx'

/** Response of `GET /session/factors`. */
export interface Factors {
  has_password: boolean
  two_step: boolean
  recovery_codes_left: number
  passkeys: { id: string; name: string; created_at: string; last_used_at: string | null }[]
}

/** Fields that confirm a change: the password or a code, as far as the user has them. */
export function ConfirmFields({ of: { has_password, two_step } }: { of: Factors }) {
  if (!has_password && !two_step)
    return <p class="muted">Without a password, this needs a sign-in within the last ten minutes.</p>
  return (
    <>
      {has_password && (
        <Field name="password" label={two_step ? 'Your password, or a code below' : 'Your password'}>
          {(control) => <input {...control} type="password" autocomplete="current-password" required={!two_step} />}
        </Field>
      )}
      {two_step && (
        <Field name="code" label={has_password ? 'Code' : 'Code of your app, or a recovery code'}>
          {(control) => <input {...control} autocomplete="one-time-code" required={!has_password} />}
        </Field>
      )}
    </>
  )
}
