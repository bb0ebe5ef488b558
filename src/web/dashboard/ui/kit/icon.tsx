import { lucide } from '../../lucide.ts' with { type: 'macro' }

/** The icons of the dashboard, from Lucide (ISC licence). A name that is added here is in the bundle. */
const CONTENT: Record<string, string> = lucide(
  'activity',
  'arrow-left',
  'ban',
  'book-open',
  'building',
  'chart-column',
  'check',
  'chevron-down',
  'chevrons-up-down',
  'circle-question-mark',
  'copy',
  'download',
  'ellipsis',
  'file-text',
  'flask-conical',
  'globe',
  'house',
  'inbox',
  'key-round',
  'log-out',
  'menu',
  'monitor',
  'moon',
  'network',
  'pause',
  'pencil',
  'play',
  'plus',
  'refresh-cw',
  'rotate-cw',
  'scroll-text',
  'search',
  'send',
  'settings',
  'sun',
  'trash',
  'triangle-alert',
  'user',
  'users',
  'webhook',
  'x',
)

/** An icon of 16 px in the colour of the text. Screen readers skip it: the control beside it has a name. */
export function Icon({ name }: { name: string }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: CONTENT[name] ?? '' }}
    />
  )
}
