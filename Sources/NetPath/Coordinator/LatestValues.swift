// The type that was announced as LatestValue<Element> is ValueBuffer<Element> of ValueBuffer.swift: ValueBuffer(), send, finish,
// next(isolation:). This file goes again.
