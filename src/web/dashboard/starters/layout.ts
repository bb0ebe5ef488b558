/** Parts of the starter templates as HTML of mail clients: tables and inline styles, since several clients drop style
 *  elements. The style element adds what only some clients support: dark colours and narrow screens. */

const FONT = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;"
const TABLE = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"'

/** A complete page. `preheader` is the text that inboxes show after the subject; `reason` says why the recipient gets
 *  the message. All are Liquid. */
export function page(parts: { title: string; preheader: string; body: string[]; reason: string }): string {
  const { title, preheader, body, reason } = parts
  return `<!doctype html>
<html lang="en" dir="ltr">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <title>${title}</title>
    <style>
      :root { color-scheme: light dark; }
      @media (max-width: 620px) {
        .card { padding: 24px 20px !important; }
      }
      @media (prefers-color-scheme: dark) {
        .page { background-color: #101214 !important; }
        .card { background-color: #1a1d20 !important; border-color: #2b3035 !important; }
        .text { color: #ecedee !important; }
        .quiet { color: #a6adb4 !important; }
        .sunk { background-color: #24282c !important; }
        .line { border-color: #2b3035 !important; }
        .link { color: #7fd6cd !important; }
      }
    </style>
  </head>
  <body class="page" style="margin: 0; padding: 0; background-color: #f3f4f5;">
    <div style="display: none; max-height: 0; overflow: hidden;">${preheader}</div>
    <table ${TABLE} class="page" style="background-color: #f3f4f5;">
      <tr>
        <td align="center" style="padding: 24px 12px;">
          <!--[if mso]><table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
          <table ${TABLE} style="max-width: 560px;">
            <tr>
              <td class="quiet" style="padding: 0 4px 12px; ${FONT} font-size: 14px; line-height: 20px; font-weight: 600; color: #5a6067;">{{ product }}</td>
            </tr>
            <tr>
              <td class="card" style="padding: 32px; background-color: #ffffff; border: 1px solid #e3e5e8; border-radius: 8px;">
${indented(body.join('\n'), 16)}
              </td>
            </tr>
            <tr>
              <td class="quiet" style="padding: 16px 4px 0; ${FONT} font-size: 13px; line-height: 20px; color: #5a6067;">${reason}</td>
            </tr>
          </table>
          <!--[if mso]></td></tr></table><![endif]-->
        </td>
      </tr>
    </table>
  </body>
</html>
`
}

export const heading = (text: string) =>
  `<h1 class="text" style="margin: 0 0 16px; ${FONT} font-size: 22px; line-height: 28px; font-weight: 600; color: #16181a;">${text}</h1>`

export const paragraph = (text: string) =>
  `<p class="text" style="margin: 0 0 16px; ${FONT} font-size: 16px; line-height: 24px; color: #16181a;">${text}</p>`

export const quiet = (text: string) =>
  `<p class="quiet" style="margin: 0; ${FONT} font-size: 14px; line-height: 20px; color: #5a6067;">${text}</p>`

/** A link in the text. */
export const link = (text: string, url: string) =>
  `<a class="link" href="${url}" style="color: #0f5c5c; text-decoration: underline;">${text}</a>`

/** A link as a button. The colour of the cell shows where a client drops the padding of links. */
export const button = (
  text: string,
  url: string,
) => `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin: 8px 0 24px;">
  <tr>
    <td bgcolor="#0f5c5c" style="border-radius: 6px; background-color: #0f5c5c;">
      <a href="${url}" style="display: inline-block; padding: 12px 20px; ${FONT} font-size: 16px; line-height: 20px; font-weight: 600; color: #ffffff; text-decoration: none;">${text}</a>
    </td>
  </tr>
</table>`

/** A code in large digits. */
export const digits = (text: string) => `<table ${TABLE} style="margin: 0 0 16px;">
  <tr>
    <td class="sunk text" align="center" style="padding: 16px; background-color: #f3f4f5; border-radius: 6px; font-family: Consolas, Menlo, monospace; font-size: 30px; line-height: 36px; font-weight: 600; letter-spacing: 4px; color: #16181a;">${text}</td>
  </tr>
</table>`

/** A table of names and values. A row may be a Liquid tag, which stays outside of the cells. */
export const rows = (
  all: readonly (readonly [name: string, value: string] | string)[],
) => `<table ${TABLE} style="margin: 0 0 24px;">
${indented(all.map((each) => (typeof each === 'string' ? each : row(...each))).join('\n'), 2)}
</table>`

const CELL = `padding: 10px 0; border-bottom: 1px solid #e3e5e8; ${FONT} font-size: 15px; line-height: 22px; color: #16181a;`
const row = (name: string, value: string) => `<tr>
  <td class="text line" style="${CELL}">${name}</td>
  <td class="text line" align="right" style="${CELL} padding-left: 12px;">${value}</td>
</tr>`

const indented = (text: string, spaces: number) => text.replace(/^(?=.)/gm, ' '.repeat(spaces))
