import { useEffect, useState } from 'preact/hooks'
import { get } from './kit/api.ts'

/** Response of `GET /session/options`. */
export interface SignInOptions {
  single_sign_on: boolean
  only_single_sign_on: boolean
  /** Users can ask for a link that sets their password. */
  password_links: boolean
}

const NONE: SignInOptions = { single_sign_on: false, only_single_sign_on: false, password_links: false }

/** The ways to sign in; null while they load. If that fails, passwords. */
export function useSignInOptions(): SignInOptions | null {
  const [options, setOptions] = useState<SignInOptions | null>(null)
  useEffect(() => {
    get<SignInOptions>('/session/options').then(setOptions, () => setOptions(NONE))
  }, [])
  return options
}

/** The button of single sign-on. It leaves the page: the server redirects to the provider. */
export function SingleSignOn() {
  return (
    <a class="button primary sign-on" href="/session/oidc">
      Continue with single sign-on
    </a>
  )
}

/** Why the last sign-in at the provider failed; '' if it did not. */
export function signOnFault(): string {
  const fault = new URLSearchParams(window.location.search).get('sso')
  if (fault === null) return ''
  return Object.hasOwn(FAULTS, fault) ? (FAULTS[fault] ?? '') : 'Single sign-on failed. Start again.'
}

/** By the code that the server adds to the address (src/web/api/sign-in/single-sign-on/settings.ts). */
export const FAULTS: Record<string, string> = {
  limited: 'Too many sign-in attempts. Wait a minute and try again.',
  unavailable: 'The sign-in provider does not answer. Try again later.',
  expired: 'This sign-in has expired, or another browser started it. Start again.',
  denied: 'The sign-in provider refused the sign-in.',
  invalid: 'The answer of the sign-in provider is not valid. The operator finds the reason in the log.',
  no_role: 'Your account has no role here. Ask the operator to add one of your groups to the config.',
  no_account: 'No account has your email address. Ask an owner of your organization to add you.',
  no_email: 'The sign-in provider sent no email address. Ask the operator to allow the scope email.',
  other_account:
    'Another account of your sign-in provider had this address before. Ask the operator of this server to remove the old user.',
  unverified: 'The sign-in provider has not verified your email address, so it cannot be used to find your account.',
  disabled: 'Your account is disabled. Ask the operator.',
  last_operator:
    'Your groups do not include the operator role, but you are the last operator. Make another user operator first: postrider login-link signs you in.',
  too_many: 'Your organization has too many users.',
}
