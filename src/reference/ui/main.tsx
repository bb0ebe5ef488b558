import { render } from 'preact'
import { startState } from '../../dashboard/ui/kit/state.ts'
import { readReference } from './document.ts'
import { Layout } from './layout.tsx'
import { fault, reference, startPlace } from './state.ts'

/** Loads `/openapi.json`, the document of this server, and shows the page for the part after `#`. */
async function load(): Promise<void> {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  reference.value = readReference(await response.json())
}

startState()
startPlace()
render(<Layout />, document.getElementById('app')!)
load().catch((thrown: unknown) => {
  fault.value = `Failed to load openapi.json: ${thrown instanceof Error ? thrown.message : String(thrown)}.`
})
