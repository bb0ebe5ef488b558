import { render } from 'preact'
import { startState } from '../../../src/web/dashboard/ui/kit/state.ts'
import { Controls } from './controls.tsx'
import { Data } from './data.tsx'
import { Feedback } from './feedback.tsx'
import { Warmups } from './warmup.tsx'

/** Every component of the dashboard's kit in its states, on one page. Built only for tests and screenshots. */
function Components() {
  return (
    <main id="main">
      <div class="stack">
        <Controls />
        <Data />
        <Warmups />
        <Feedback />
      </div>
    </main>
  )
}

startState()
const root = document.getElementById('app')
if (root !== null) render(<Components />, root)
