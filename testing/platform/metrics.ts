import { expect } from 'vitest'

/** The samples of a process's `/metrics`, by name with labels as written. */
export async function readMetrics(process: { url: string; apiKey: string }): Promise<Map<string, number>> {
  const answer = await fetch(`${process.url}/metrics`, {
    headers: { authorization: `Bearer ${process.apiKey}` },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toContain('text/plain')
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}
