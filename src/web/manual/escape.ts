export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`)
}
