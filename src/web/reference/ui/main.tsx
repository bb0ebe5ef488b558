import { render } from 'preact'
import { startState } from '../../dashboard/ui/kit/state.ts'
import { readReference } from './document.ts'
import { Layout } from './layout.tsx'
import { fault, reference, startPlace } from './state.ts'

/** The page waits this long for its font: text that changes its font moves what is below it. */
const FONT_LIMIT_MS = 500

/** Loads `/openapi.json`, the document of this server, and shows the page for the part after `#`. */
async function load(): Promise<void> {
  const font = Promise.race([
    document.fonts.load('14px Inter'),
    new Promise((resolve) => setTimeout(resolve, FONT_LIMIT_MS)),
  ]).catch(() => {})
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const read = readReference(await response.json())
  await font
  reference.value = read
}

startState()
startPlace()
render(<Layout />, document.getElementById('app')!)
load().catch((thrown: unknown) => {
  fault.value = `Failed to load openapi.json: ${thrown instanceof Error ? thrown.message : String(thrown)}.`
})
