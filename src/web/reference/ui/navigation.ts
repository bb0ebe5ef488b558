/** The navigation around the page (web/manual/shell.ts): marks the link that was opened, and shows the operations of its
 *  resource. A name that it does not have marks nothing. */
export function markLink(hash: string): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('#navigation a[href^="/docs"]')]
  const wanted = hash === '#overview' ? '' : hash
  const current = links.find((link) => link.hash === wanted)
  for (const link of links) link.removeAttribute('aria-current')
  current?.setAttribute('aria-current', 'page')
  const shown = current?.closest('.operations') ?? current?.parentElement?.querySelector('.operations')
  for (const list of document.querySelectorAll<HTMLElement>('#navigation .operations')) list.hidden = list !== shown
  const navigation = document.getElementById('navigation')
  navigation?.setAttribute('data-marked', '')
  current?.scrollIntoView({ block: 'nearest' })
  navigation?.hidePopover()
}
