import { useEffect, useState } from 'preact/hooks'
import icon from './icon.svg'
import { signIn, wordsOf } from './kit/api.ts'
import { Field, Form } from './kit/form.tsx'
import { go } from './kit/router.ts'
import { title } from './kit/state.ts'
import { Above } from './layout.tsx'

/** The door. A link brings its token behind the #, where no server sees it; it is taken out of the address at once. */
export function SignIn() {
  const [token] = useState(takeToken)
  const [fault, setFault] = useState('')
  const [isOpening, setOpening] = useState(token !== null)
  useEffect(() => {
    title.value = 'Sign in'
    if (token === null) return
    signIn({ token })
      .then(enter)
      .catch((thrown) => setFault(wordsOf(thrown)))
      .finally(() => setOpening(false))
  }, [token])
  return (
    <main class="door">
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
        <div class="card stack">
          <h2>{isOpening ? 'Opening the door…' : 'Sign in with a link'}</h2>
          <p class="muted">On the server, this prints a link that opens once, within 30 minutes:</p>
          <pre>postrider login-link</pre>
        </div>
        <div class="card stack">
          <h2>Or with the operator’s password</h2>
          <Form action="Sign in" onSubmit={({ password }) => signIn({ password })} onDone={enter}>
            <Field name="password" label="Password" hint="There is none until you set one in the settings.">
              {(control) => <input {...control} type="password" autocomplete="current-password" required />}
            </Field>
          </Form>
        </div>
      </div>
      <Above />
    </main>
  )
}

const TOKEN = /^#token=([0-9A-Za-z]+)$/
/** Whether the link that was followed is one to sign in with. */
export const hasToken = () => TOKEN.test(window.location.hash)

function takeToken(): string | null {
  const token = TOKEN.exec(window.location.hash)?.[1] ?? null
  if (token !== null) window.history.replaceState(null, '', window.location.pathname)
  return token
}

/** To what was asked for, or to the first page after a link. */
function enter(): void {
  if (window.location.pathname.endsWith('/sign-in')) go('/', {}, { replace: true })
}
