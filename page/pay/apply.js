const svg = 'http://www.w3.org/2000/svg'
const svgTags = ['svg', 'path']
/** Attributes that are up to the reader: whether a part is open, and what was copied just now. */
const ofReader = ['open', 'data-copied']

/** Makes the children of an element those of the list, and keeps the nodes that stay, with their focus and state. */
export function apply(parent, children) {
  for (const [index, child] of children.entries()) {
    const present = parent.childNodes[index]
    if (present === undefined) parent.append(nodeOf(child))
    else if (!isSame(present, child)) present.replaceWith(nodeOf(child))
    else if (typeof child === 'string') setText(present, child)
    else {
      setAttributes(present, child.attributes)
      apply(present, child.children)
    }
  }
  while (parent.childNodes.length > children.length) parent.lastChild.remove()
}

const isSame = (node, part) =>
  typeof part === 'string' ? node.nodeType === Node.TEXT_NODE : node.localName === part.tag

function setText(node, text) {
  if (node.data !== text) node.data = text
}

function setAttributes(element, attributes) {
  for (const { name } of [...element.attributes])
    if (!Object.hasOwn(attributes, name) && !ofReader.includes(name)) element.removeAttribute(name)
  for (const [name, value] of Object.entries(attributes))
    if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}

function nodeOf(part) {
  if (typeof part === 'string') return document.createTextNode(part)
  const element = svgTags.includes(part.tag)
    ? document.createElementNS(svg, part.tag)
    : document.createElement(part.tag)
  setAttributes(element, part.attributes)
  element.append(...part.children.map(nodeOf))
  return element
}
