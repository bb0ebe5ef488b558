import { type ComponentType, render } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { errorText, loadSession } from './kit/api.ts'
import { type KeyedPage, startKeys, up } from './kit/keys.tsx'
import { NeedsRole } from './kit/needs-role.tsx'
import { Empty, Head } from './kit/pieces.tsx'
import { startRecent } from './kit/recent.ts'
import { may } from './kit/rights.ts'
import { href, match, place, startRouter } from './kit/router.ts'
import { organization, session, startState } from './kit/state.ts'
import { Layout } from './layout.tsx'
import { PAGES, type PageEntry } from './pages.ts'
import { hasToken, SignIn } from './sign-in.tsx'

/** Loads the session, then shows the page for the path. */
function App() {
  const [fault, setFault] = useState('')
  useEffect(() => {
    if (hasToken()) session.value = null
    else loadSession().catch((thrown) => setFault(errorText(thrown)))
  }, [])
  if (fault !== '') return <main class="sign-in notice bad">{fault}</main>
  if (session.value === undefined) return <div class="busy" role="progressbar" aria-label="Loading" />
  if (session.value === null) return <SignIn />
  const found = pageAt(place.value.path)
  return (
    <Layout page={found?.page ?? null}>
      {found === null ? (
        <NotFound />
      ) : may(found.page.needs) ? (
        <Page key={keyOf(found)} page={found.page} params={found.params} />
      ) : (
        <NeedsRole name={found.page.name} operation={found.page.needs} />
      )}
    </Layout>
  )
}

/** A different resource or organization gets a new instance of the page. */
const keyOf = ({ page, params }: Found) => JSON.stringify([page.path, params, organization.value?.id])

interface Found {
  page: PageEntry
  params: Record<string, string>
}

function pageAt(path: string): Found | null {
  for (const page of PAGES) {
    const params = match(page.path, path)
    if (params !== null) return { page, params }
  }
  return null
}

const loaded = new Map<PageEntry, ComponentType>()

function Page({ page, params }: Found) {
  const [fault, setFault] = useState('')
  const [, setLoaded] = useState(0)
  const Shown = loaded.get(page)
  useLayoutEffect(() => {
    up.value = page.under ?? null
  }, [page])
  useEffect(() => {
    if (loaded.has(page)) return
    page.load().then(
      (module) => {
        loaded.set(page, module.default)
        setLoaded((count) => count + 1)
      },
      () => setFault('Failed to load this page. The server may have been upgraded. Reload this browser tab.'),
    )
  }, [page])
  if (fault !== '') return <Empty name={fault} />
  return Shown === undefined ? <div class="busy" role="progressbar" aria-label="Loading" /> : <Shown {...params} />
}

function NotFound() {
  return (
    <>
      <Head name="Page not found" about="No page exists at this address." />
      <a href={href('/')}>Go to overview</a>
    </>
  )
}

startState()
startRouter()
startRecent()
startKeys(PAGES.filter((page): page is PageEntry & KeyedPage => page.key !== undefined))
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
