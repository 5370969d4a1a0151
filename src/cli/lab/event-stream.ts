/** An event of a stream of server-sent events. */
type StreamEvent = { event: string; data: string }

/** Reads the events of an answer, until it ends or breaks. */
export async function* streamedEvents(response: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = eventIn(block)
      if (event) yield event
    }
  }
}

function eventIn(block: string): StreamEvent | undefined {
  const fields = block.split('\n').map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')] as const
  })
  const of = (name: string) => fields.find(([each]) => each === name)?.[1]
  const [event, data] = [of('event'), of('data')]
  return event === undefined || data === undefined ? undefined : { event, data }
}
