/** Plans that are often wanted, by their names. */
export const presets: Readonly<Record<string, string>> = {
  'slow-network': `apiVersion: bezant/v1
rules:
- { name: slow-requests, on: request, do: { delay: 300ms } }
- { name: slow-webhooks, on: webhook, do: { delay: 1s } }
`,
  'flaky-node': `apiVersion: bezant/v1
rules:
- name: lost-sends
  on: node
  match: { caller: platform, method: [eth_sendRawTransaction, POST /v1/transactions] }
  when: { chance: 0.3 }
  do: { reply: acceptThenTimeOut }
- name: bad-gateway
  on: node
  match: { caller: platform }
  when: { chance: 0.05 }
  do: { reply: error502 }
`,
  'angry-webhooks': `apiVersion: bezant/v1
rules:
- { name: refused, on: webhook, when: { chance: 0.3 }, do: { status: 503 } }
- { name: told-twice, on: webhook, when: { chance: 0.2 }, do: { duplicate: 1 } }
`,
  'rate-limited': `apiVersion: bezant/v1
rules:
- { name: too-many, on: request, when: { every: 3 }, do: { status: 429, retryAfter: 1s } }
`,
  reorgs: `apiVersion: bezant/v1
rules:
- { name: replaced-blocks, on: chain, when: { every: 3 }, do: { reorg: { depth: 1 } } }
- { name: gas-jumps, on: chain, when: { every: 7 }, do: { baseFee: { times: 4, blocks: 5 } } }
`,
  'strict-screening': `apiVersion: bezant/v1
rules:
- { name: away, on: screening, when: { chance: 0.2 }, do: { unavailable: true } }
- { name: denied, on: screening, when: { every: 5 }, do: { verdict: DENIED } }
`,
  'lost-answers': `apiVersion: bezant/v1
rules:
- { name: answer-lost, on: request, match: { route: "POST *" }, when: { chance: 0.2 }, do: { lose: answer } }
`,
}
