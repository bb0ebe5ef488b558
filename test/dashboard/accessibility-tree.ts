import type { CDPSession, Page } from 'playwright-core'

/** What Chromium gives to a screen reader. */

/** A node that a screen reader reads. */
export interface SpokenNode {
  role: string
  name: string
  description: string
  isFocused: boolean
  isInvalid: boolean
}

interface AxNode {
  nodeId: string
  childIds?: string[]
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  description?: { value: string }
  properties?: { name: string; value: { value: unknown } }[]
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** The accessibility tree of a page in reading order, without the nodes that a screen reader skips. */
export async function spoken(page: Page): Promise<SpokenNode[]> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, session)
  const { nodes } = (await (await session).send('Accessibility.getFullAXTree')) as { nodes: AxNode[] }
  return inOrder(nodes)
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, description, properties = [] }) => {
      const valueFor = (wanted: string) => properties.find((each) => each.name === wanted)?.value.value
      return {
        role: role?.value ?? '',
        name: name?.value ?? '',
        description: description?.value ?? '',
        isFocused: valueFor('focused') === true,
        isInvalid: ![undefined, false, 'false'].includes(valueFor('invalid') as never),
      }
    })
}

/** Chromium lists the nodes level by level; a reader follows the children of each. The first node is the page. */
function inOrder(nodes: AxNode[]): AxNode[] {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const follow = (node: AxNode | undefined): AxNode[] =>
    node === undefined ? [] : [node, ...(node.childIds ?? []).flatMap((id) => follow(byId.get(id)))]
  return follow(nodes[0])
}

/** `textbox "Domain"` of the node that has the focus, the innermost one; '' if none has. */
export async function focused(page: Page): Promise<string> {
  const found = (await spoken(page)).findLast(({ isFocused, role }) => isFocused && role !== 'RootWebArea')
  return found === undefined ? '' : `${found.role} "${found.name}"`
}
