import { useState } from 'preact/hooks'
import { post, save } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { copyText } from '../../kit/pieces.tsx'
import { QrCode } from '../../kit/qr-code.tsx'
import { Chip } from '../../kit/status.tsx'
import { toast } from '../../kit/toast.tsx'
import { Confirmed, ConfirmFields, type Factors } from './confirm-fields.tsx'

type Step =
  | { kind: 'confirm'; of: 'set-up' | 'codes' | 'off' }
  | { kind: 'app'; secret: string; uri: string }
  | { kind: 'codes'; codes: string[] }

const NAMES = {
  'set-up': ['Set up two-step sign-in', 'Continue'],
  codes: ['Create new recovery codes', 'Create codes'],
  off: ['Turn off two-step sign-in', 'Turn off'],
} as const

/** Two-step sign-in with an app, and its recovery codes. */
export function TwoStep({ factors, onDone }: { factors: Factors; onDone: () => void }) {
  const [step, setStep] = useState<Step | null>(null)
  const ask = (of: keyof typeof NAMES) => () => setStep({ kind: 'confirm', of })
  const close = () => {
    setStep(null)
    onDone()
  }
  const left = factors.recovery_codes_left
  return (
    <section class="card stack">
      <div class="row apart">
        <h2>Two-step sign-in</h2>
        {factors.two_step ? <Chip word="on" tone="good" /> : <Chip word="off" tone="quiet" />}
      </div>
      <p class="muted">
        {factors.two_step
          ? 'After your password, you enter a code from your app.'
          : 'Require a code from your authenticator app as well as your password.'}
      </p>
      {factors.two_step && (
        <p class={left <= 3 ? 'notice warn' : 'muted'}>
          {left} of 10 recovery codes left. {left <= 3 && 'Create new ones.'}
        </p>
      )}
      <div class="row">
        {factors.two_step ? (
          <>
            <button type="button" onClick={ask('codes')}>
              Create new recovery codes
            </button>
            <button type="button" class="danger" onClick={ask('off')}>
              Turn off
            </button>
          </>
        ) : (
          <button type="button" class="primary" onClick={ask('set-up')}>
            Set up
          </button>
        )}
      </div>
      {step?.kind === 'confirm' && <Confirm of={step.of} factors={factors} onNext={setStep} onClose={close} />}
      {step?.kind === 'app' && <App {...step} onNext={setStep} onClose={close} />}
      {step?.kind === 'codes' && <Codes codes={step.codes} onClose={close} />}
    </section>
  )
}

function Confirm({
  of,
  factors,
  onNext,
  onClose,
}: {
  of: keyof typeof NAMES
  factors: Factors
  onNext: (step: Step) => void
  onClose: () => void
}) {
  const [name, action] = NAMES[of]
  const submit = async (values: object) => {
    if (of === 'set-up') {
      const { secret, uri } = await post('/session/two-step', values)
      return onNext({ kind: 'app', secret, uri })
    }
    if (of === 'codes') {
      const { recovery_codes } = await post('/session/two-step/recovery-codes', values)
      return onNext({ kind: 'codes', codes: recovery_codes })
    }
    await post('/session/two-step/disable', values)
    toast('Two-step sign-in is off')
    onClose()
  }
  return (
    <Dialog name={name} onClose={onClose}>
      {of === 'off' && <p>Your password alone will be enough to sign in. Your other sessions end.</p>}
      {of === 'codes' && <p>Codes that you stored earlier stop working. Your other sessions end.</p>}
      <Confirmed of={factors}>
        <Form action={action} isDangerous={of === 'off'} onSubmit={submit} onCancel={onClose}>
          <ConfirmFields of={factors} />
        </Form>
      </Confirmed>
    </Dialog>
  )
}

/** The secret for the app, and its first code. */
function App({
  secret,
  uri,
  onNext,
  onClose,
}: {
  secret: string
  uri: string
  onNext: (step: Step) => void
  onClose: () => void
}) {
  const enable = async ({ code = '' }: Record<string, string | undefined>) => {
    const { recovery_codes } = await post('/session/two-step/enable', { code })
    onNext({ kind: 'codes', codes: recovery_codes })
  }
  return (
    <Dialog name="Add this account to your app" onClose={onClose}>
      <p>Scan this code with an authenticator app, or enter the key.</p>
      <QrCode text={uri} label="QR code with the key below" />
      <p class="mono break">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</p>
      <Form action="Turn on" onSubmit={enable} onCancel={onClose}>
        <Field name="code" label="Code" hint="The six-digit code from your app. Your other sessions end.">
          {(control) => <input {...control} inputMode="numeric" autocomplete="one-time-code" required />}
        </Field>
      </Form>
    </Dialog>
  )
}

/** Recovery codes, shown once. */
function Codes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const text = `${codes.join('\n')}\n`
  return (
    <Dialog name="Your recovery codes" onClose={onClose}>
      <p>
        Store these codes somewhere you can reach without your phone. Each signs you in once. You won’t be able to see
        them again.
      </p>
      <ul class="codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" onClick={() => copyText(text, 'recovery codes')}>
          Copy
        </button>
        <button type="button" onClick={() => save('postrider-recovery-codes.txt', 'text/plain', text)}>
          Download
        </button>
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
