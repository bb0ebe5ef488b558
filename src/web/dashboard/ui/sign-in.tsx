import { useEffect, useState } from 'preact/hooks'
import icon from './icon.svg'
import { ApiError, errorText, type Json, post, signIn, signInBy } from './kit/api.ts'
import { Field, Form, type Values } from './kit/form.tsx'
import { hasPasskeys, usePasskey } from './kit/passkeys.ts'
import { Time } from './kit/pieces.tsx'
import { go } from './kit/router.ts'
import { hasEnded, title } from './kit/state.ts'
import { attempt } from './kit/toast.tsx'
import { Overlays } from './layout.tsx'
import { SingleSignOn, signOnFault, useSignInOptions } from './single-sign-on.tsx'

/** The sign-in page. A link has its token in the fragment, which browsers do not send; the page removes it from
 *  the address bar. */
export function SignIn() {
  const [token] = useState(() => take(TOKEN))
  const [reset, setReset] = useState(() => take(RESET))
  const [invitation, setInvitation] = useState(() => take(INVITATION))
  const [fault, setFault] = useState(signOnFault)
  const options = useSignInOptions()
  const isOnly = options?.only_single_sign_on === true
  const [pending, setPending] = useState<string | null>(null)
  const [isForgotten, setForgotten] = useState(false)
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
        {invitation !== null && !isOnly && <Invitation token={invitation} onDone={() => setInvitation(null)} />}
        {reset !== null && !isOnly && <NewPassword token={reset} onDone={() => setReset(null)} />}
        {pending !== null && <ByCode token={pending} onBack={() => setPending(null)} />}
        {isForgotten && <Forgot onBack={() => setForgotten(false)} />}
        {pending === null && options !== null && !isForgotten && (
          <div class="card stack">
            <h2>{isSigningIn ? 'Signing in…' : 'Sign in'}</h2>
            {hasEnded.value && <p role="status">Your session ended. Sign in to continue where you were.</p>}
            {options.single_sign_on && <SingleSignOn />}
            {!isOnly && <ByPasskey />}
            {!isOnly && (
              <ByPassword onCode={setPending} {...(options.password_links && { onForgot: () => setForgotten(true) })} />
            )}
            <details>
              <summary>Server operator? Use a sign-in link</summary>
              <div class="stack tight">
                <p class="muted">On the server, run this for a sign-in link. It works once, for 30 minutes.</p>
                <pre>postrider login-link</pre>
              </div>
            </details>
          </div>
        )}
      </div>
      <Overlays />
    </main>
  )
}

/** The button of passkeys; nothing where the browser has none. */
function ByPasskey() {
  if (!hasPasskeys()) return null
  const ask = () =>
    attempt(async () => {
      await signInBy('/session/passkey', await usePasskey())
      enter()
    })
  return (
    <button type="button" onClick={ask}>
      Sign in with a passkey
    </button>
  )
}

/** `onForgot` is absent if no mail goes to users. */
function ByPassword({ onCode, onForgot }: { onCode: (token: string) => void; onForgot?: () => void }) {
  const submit = async ({ email, password = '' }: Values) => {
    const token = await signIn({ ...(email && { email }), password })
    if (token === null) enter()
    else onCode(token)
  }
  return (
    <>
      <Form action="Sign in" onSubmit={submit}>
        <Field name="email" label="Email">
          {(control) => <input {...control} type="email" autocomplete="username" />}
        </Field>
        <Field name="password" label="Password">
          {(control) => <input {...control} type="password" autocomplete="current-password" required />}
        </Field>
      </Form>
      {onForgot ? (
        <button type="button" class="plain" onClick={onForgot}>
          Forgot your password?
        </button>
      ) : (
        <details>
          <summary>Forgot your password?</summary>
          <p class="muted">
            Ask the operator of this server for a link that sets a new one. The operator runs{' '}
            <code>postrider user reset EMAIL</code>.
          </p>
        </details>
      )}
    </>
  )
}

/** Asks for a link by mail. The page says the same for every address, as the server does. */
function Forgot({ onBack }: { onBack: () => void }) {
  const [asked, setAsked] = useState<string | null>(null)
  if (asked !== null) {
    return (
      <div class="card stack" role="status">
        <h2>Check your mail</h2>
        <p>
          If <b class="break">{asked}</b> has an account with a password, a mail with a link is on its way. The link
          works for one hour.
        </p>
        <p class="muted">No mail? Look in the spam folder, or ask the operator of this server.</p>
        <div class="row form-actions">
          <button type="button" onClick={onBack}>
            Back
          </button>
        </div>
      </div>
    )
  }
  const ask = async ({ email = '' }: Values) => {
    await post('/session/forgot', { email })
    setAsked(email)
  }
  return (
    <div class="card stack">
      <h2>Set a new password</h2>
      <Form action="Send link" onSubmit={ask} onCancel={onBack}>
        <Field name="email" label="Email" hint="You get a link by mail.">
          {(control) => <input {...control} ref={focus} type="email" autocomplete="username" required />}
        </Field>
      </Form>
    </div>
  )
}

/** The second step: a code of an app, or a recovery code. */
function ByCode({ token, onBack }: { token: string; onBack: () => void }) {
  const [isRecovery, setRecovery] = useState(false)
  return (
    <div class="card stack">
      <h2>Enter your code</h2>
      <Form
        key={String(isRecovery)}
        action="Continue"
        onSubmit={({ code = '' }) => signInBy('/session/code', { token, code })}
        onDone={enter}
        onCancel={onBack}
      >
        {isRecovery ? (
          <Field name="code" label="Recovery code" hint="A recovery code. Each one works once.">
            {(control) => <input {...control} ref={focus} autocomplete="off" spellcheck={false} required />}
          </Field>
        ) : (
          <Field name="code" label="Code" hint="The six-digit code from your app.">
            {(control) => <input {...control} ref={focus} inputMode="numeric" autocomplete="one-time-code" required />}
          </Field>
        )}
      </Form>
      <button type="button" class="plain" onClick={() => setRecovery(!isRecovery)}>
        {isRecovery ? 'Use your app instead' : 'Use a recovery code'}
      </button>
    </div>
  )
}

/** The step replaces a form that had the focus. */
const focus = (input: HTMLInputElement | null) => input?.focus()

/** Accepts an invitation; an existing account joins with its password. */
function Invitation({ token, onDone }: { token: string; onDone: () => void }) {
  const accept = ({ name = '', password = '' }: Values) => post('/session/invitation', { token, name, password })
  return (
    <div class="card stack">
      <h2>Accept the invitation</h2>
      <Form action="Accept" onSubmit={accept} onDone={onDone}>
        <Field name="name" label="Your name">
          {(control) => <input {...control} autocomplete="name" required />}
        </Field>
        <Field
          name="password"
          label="New password"
          hint="At least 12 characters. Already have an account? Enter its password."
        >
          {(control) => <input {...control} type="password" autocomplete="new-password" minlength={12} required />}
        </Field>
      </Form>
    </div>
  )
}

/** Sets a password with the link of `postrider user add` or `reset`. If the account has passkeys or a second factor that
 *  somebody else may have added, the server lists them, and the form asks what to do with them. */
function NewPassword({ token, onDone }: { token: string; onDone: () => void }) {
  const [factors, setFactors] = useState<Json[]>([])
  const submit = async ({ password = '', factors: decision }: Values) => {
    try {
      await post('/session/reset', { token, password, factors: decision })
    } catch (thrown) {
      if (thrown instanceof ApiError && Array.isArray(thrown.details.factors)) setFactors(thrown.details.factors)
      throw thrown
    }
  }
  return (
    <div class="card stack">
      <h2>Set your password</h2>
      <Form action="Set password" onSubmit={submit} onDone={onDone}>
        {factors.length > 0 && (
          <>
            <ul>
              {factors.map(({ name, created_at }) => (
                <li key={name + created_at}>
                  {name}, added <Time at={created_at} />
                </li>
              ))}
            </ul>
            <Field name="factors" label="Did you add these?" hint="Remove them if you are not sure.">
              {(control) => (
                <select {...control}>
                  <option value="remove">No, remove them</option>
                  <option value="keep">Yes, keep them</option>
                </select>
              )}
            </Field>
          </>
        )}
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
  hasEnded.value = false
  if (window.location.pathname.endsWith('/sign-in')) go('/', {}, { replace: true })
}
