import { useEffect, useState } from 'preact/hooks'
import icon from './icon.svg'
import { acceptInvitation, errorText, setPasswordBy, signIn } from './kit/api.ts'
import { Field, Form } from './kit/form.tsx'
import { go } from './kit/router.ts'
import { title } from './kit/state.ts'
import { Overlays } from './layout.tsx'

/** The sign-in page. A link has its token in the fragment, which browsers do not send; the page removes it from
 *  the address bar. */
export function SignIn() {
  const [token] = useState(() => take(TOKEN))
  const [reset, setReset] = useState(() => take(RESET))
  const [invitation, setInvitation] = useState(() => take(INVITATION))
  const [fault, setFault] = useState('')
  const [isSigningIn, setSigningIn] = useState(token !== null)
  useEffect(() => {
    title.value = 'Sign in'
    if (token === null) return
    signIn({ token })
      .then(enter)
      .catch((thrown) => setFault(errorText(thrown)))
      .finally(() => setSigningIn(false))
  }, [token])
  return (
    <main class="sign-in">
      <div class="stack">
        <div class="brand">
          <img src={icon} alt="" />
          <h1>Postrider</h1>
        </div>
        {fault !== '' && (
          <div class="notice bad" role="alert">
            {fault}
          </div>
        )}
        {invitation !== null && <Invitation token={invitation} onDone={() => setInvitation(null)} />}
        {reset !== null && <NewPassword token={reset} onDone={() => setReset(null)} />}
        <div class="card stack">
          <h2>{isSigningIn ? 'Signing in…' : 'Sign in with a link'}</h2>
          <p class="muted">Run this on the server to get a link. It works once and expires after 30 minutes.</p>
          <pre>postrider login-link</pre>
        </div>
        <div class="card stack">
          <h2>Sign in with a password</h2>
          <Form
            action="Sign in"
            onSubmit={({ email, password }) => signIn({ ...(email && { email }), password })}
            onDone={enter}
          >
            <Field name="email" label="Email" hint="Not needed while there is one user.">
              {(control) => <input {...control} type="email" autocomplete="username" />}
            </Field>
            <Field name="password" label="Password" hint="Available after you set a password in Settings.">
              {(control) => <input {...control} type="password" autocomplete="current-password" required />}
            </Field>
          </Form>
        </div>
      </div>
      <Overlays />
    </main>
  )
}

/** Accepts an invitation; an existing account joins with its password. */
function Invitation({ token, onDone }: { token: string; onDone: () => void }) {
  const accept = ({ name = '', password = '' }: Record<string, string | undefined>) =>
    acceptInvitation(token, name, password)
  return (
    <div class="card stack">
      <h2>Accept the invitation</h2>
      <Form action="Accept" onSubmit={accept} onDone={onDone}>
        <Field name="name" label="Your name">
          {(control) => <input {...control} autocomplete="name" required />}
        </Field>
        <Field name="password" label="New password" hint="At least 12 characters. With an account, its password.">
          {(control) => <input {...control} type="password" autocomplete="new-password" minlength={12} required />}
        </Field>
      </Form>
    </div>
  )
}

/** Sets a password with the link of `postrider user add` or `reset`. */
function NewPassword({ token, onDone }: { token: string; onDone: () => void }) {
  return (
    <div class="card stack">
      <h2>Set your password</h2>
      <Form action="Set password" onSubmit={({ password = '' }) => setPasswordBy(token, password)} onDone={onDone}>
        <Field name="password" label="New password" hint="At least 12 characters. Then sign in with it.">
          {(control) => <input {...control} type="password" autocomplete="new-password" minlength={12} required />}
        </Field>
      </Form>
    </div>
  )
}

const TOKEN = /^#token=([0-9A-Za-z]+)$/
const INVITATION = /^#invitation=([0-9A-Za-z]+)$/
const RESET = /^#reset=([0-9A-Za-z]+)$/
/** Whether the current address is a link that signs in, sets a password or invites. */
export const hasToken = () => [TOKEN, RESET, INVITATION].some((pattern) => pattern.test(window.location.hash))

function take(pattern: RegExp): string | null {
  const token = pattern.exec(window.location.hash)?.[1] ?? null
  if (token !== null) window.history.replaceState(null, '', window.location.pathname)
  return token
}

/** A sign-in link opens the overview; otherwise the requested page stays open. */
function enter(): void {
  if (window.location.pathname.endsWith('/sign-in')) go('/', {}, { replace: true })
}
