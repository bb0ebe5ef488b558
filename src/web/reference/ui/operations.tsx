import { effect } from '@preact/signals'
import { render } from 'preact'
import { Toasts } from '../../dashboard/ui/kit/toast.tsx'
import { readReference } from './document.ts'
import { markLink } from './navigation.ts'
import { nearest } from './nearest.ts'
import { OperationPage } from './operation.tsx'
import { Overview } from './overview.tsx'
import { fault, hash, isOperation, place, reference, startKeyDomain, startPlace, wrongName } from './state.ts'
import { OperationList, TagPage } from './tag.tsx'

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

function Page() {
  if (fault.value !== '')
    return (
      <div class="notice bad" role="alert">
        {fault.value}
      </div>
    )
  if (reference.value === null)
    return (
      <p class="muted skeleton-page" aria-busy="true">
        Loading the reference…
      </p>
    )
  if (wrongName.value !== '') return <Wrong name={wrongName.value} />
  const at = place.value
  if (at === null) return <Overview reference={reference.value} />
  return isOperation(at) ? <OperationPage key={at.id} operation={at} /> : <TagPage tag={at} />
}

/** A link that names nothing, and the operations that it may mean. */
function Wrong({ name }: { name: string }) {
  const { operations = [] } = reference.value ?? {}
  const ids = nearest(
    name,
    operations.map(({ id }) => id),
  )
  return (
    <div class="stack">
      <h1 class="break">No operation {name}</h1>
      <p>Search above, or open one of the nearest:</p>
      <OperationList operations={operations.filter(({ id }) => ids.includes(id))} />
    </div>
  )
}

let hasOpened = false

/** Title, position and focus for the page that the link names. */
function openPlace(): void {
  const at = place.value
  if (reference.value === null) return
  const name = at === null ? wrongName.value : isOperation(at) ? at.summary : at.name
  document.title = `${name === '' ? 'API reference' : name} · Postrider`
  if (hasOpened) {
    window.scrollTo(0, 0)
    document.getElementById('main')?.focus({ preventScroll: true })
  }
  hasOpened = true
}

startPlace()
startKeyDomain()
render(
  <>
    <Page />
    <Toasts />
  </>,
  document.getElementById('page')!,
)
effect(() => markLink(hash.value))
effect(openPlace)
load().catch((thrown: unknown) => {
  fault.value = `Failed to load openapi.json: ${thrown instanceof Error ? thrown.message : String(thrown)}.`
})
