import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** A button that opens a list of actions above the page. Escape, a press outside and every action close it; the arrow keys
 *  move between the actions. `label` is the content of the button, an ellipsis by default.
 *
 *    <Menu name="Actions of ann@example.com"><MenuItem icon="trash" onPress={drop}>Remove</MenuItem></Menu> */
export function Menu({
  name,
  label = <Icon name="ellipsis" />,
  className = 'plain icon-only',
  children,
}: {
  name: string
  label?: ComponentChildren
  className?: string
  children: ComponentChildren
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const items = [...(list.current?.querySelectorAll<HTMLElement>('a, button') ?? [])]
    const at = items.indexOf(document.activeElement as HTMLElement)
    items[(at + step + items.length) % items.length]?.focus()
  }
  const onToggle = ({ newState }: { newState: string }) => {
    if (newState === 'open') list.current?.querySelector<HTMLElement>('a, button')?.focus()
  }
  return (
    <>
      <button type="button" class={className} ref={button} popovertarget={id} aria-label={name}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the actions in it */}
      <div
        id={id}
        ref={list}
        class="menu-list"
        popover="auto"
        onKeyDown={move}
        onBeforeToggle={(event) => event.newState === 'open' && place(list.current, button.current)}
        onToggle={onToggle}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('[data-closes]')) list.current?.hidePopover()
        }}
      >
        {children}
      </div>
    </>
  )
}

/** An action of a Menu, or a link with `href`. */
export function MenuItem({
  icon,
  href,
  onPress,
  isDangerous = false,
  children,
}: {
  icon?: string
  href?: string
  onPress?: () => void
  isDangerous?: boolean
  children: ComponentChildren
}) {
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {children}
    </>
  )
  const name = `menu-item ${isDangerous ? 'danger' : ''}`
  if (href === undefined)
    return (
      <button type="button" class={name} data-closes onClick={onPress}>
        {content}
      </button>
    )
  const isOutside = !href.startsWith('/dashboard')
  return (
    <a class={name} data-closes href={href} target={isOutside ? '_blank' : undefined} rel="noreferrer">
      {content}
    </a>
  )
}

const EDGE_PX = 8
/** Width of .menu-list, and the height of one item, in style.css. */
const WIDTH_PX = 208
const ITEM_PX = 32

/** Puts the list below the button, or above it where there is more room. */
function place(list: HTMLElement | null, button: HTMLElement | null): void {
  if (list === null || button === null) return
  const { left, right, top, bottom } = button.getBoundingClientRect()
  const { innerWidth, innerHeight } = window
  const isLeft = left + WIDTH_PX + EDGE_PX < innerWidth
  list.style.left = `${Math.max(EDGE_PX, isLeft ? left : right - WIDTH_PX)}px`
  const heightPx = list.childElementCount * ITEM_PX + 2 * EDGE_PX
  const isAbove = bottom + heightPx > innerHeight && top > innerHeight - bottom
  list.style.top = isAbove ? 'auto' : `${bottom + 4}px`
  list.style.bottom = isAbove ? `${innerHeight - top + 4}px` : 'auto'
}
