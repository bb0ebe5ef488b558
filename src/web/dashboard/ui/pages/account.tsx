import { useState } from 'preact/hooks'
import { get } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Head } from '../kit/pieces.tsx'
import { session } from '../kit/state.ts'
import type { Factors } from './account/confirm-fields.tsx'
import { Passkeys } from './account/passkeys.tsx'
import { Password } from './account/password.tsx'
import { Sessions } from './account/sessions.tsx'
import { TwoStep } from './account/two-step.tsx'

/** What the signed-in user signs in with, and where. */
export default function AccountPage() {
  const factors = useLoad<Factors>((signal) => get('/session/factors', {}, signal), [])
  const [round, setRound] = useState(0)
  const { name, email } = session.value?.user ?? {}
  const refresh = () => {
    factors.reload()
    setRound((before) => before + 1) // a change ends other sessions
  }
  return (
    <div class="stack">
      <Head name="Account" about={email ?? name ?? ''} />
      <ErrorNotice error={factors.error} onRetry={factors.reload} />
      {factors.data === undefined ? (
        <div class="card" aria-busy="true" style={{ height: '480px' }} />
      ) : (
        <>
          <TwoStep factors={factors.data} onDone={refresh} />
          <Passkeys factors={factors.data} onDone={refresh} />
          <Password onDone={refresh} />
        </>
      )}
      <Sessions key={round} />
    </div>
  )
}
